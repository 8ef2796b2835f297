"""The real appliance, run as a user runs it: supervisor, steward and workers, on a folder of the bench."""

from __future__ import annotations

import os
import select
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from appliance.coordination import history
from appliance.site import config
from appliance.store.ledger import Ledger, Place
from appliance.store.wake import Waiter

ROOT: Final = Path(__file__).parents[2]
START_S: Final = 60.0
LOOK_MS: Final = 20
QUIET: Final = "appliance.log"


@dataclass(frozen=True, slots=True, kw_only=True)
class Running:
    """An appliance that runs: its place, and the pid of its supervisor."""

    place: Place
    pid: int


@contextmanager
def run(folder: Path, name: str, **pools: int) -> Iterator[Running]:
    """An appliance with pools of so many workers, ready; stopped and forgotten at the end."""
    paths = config.paths({}, state=folder / name).make()
    table = {"handlers": {"modules": ["tests.bench.handlers"]}, "stop": {"seconds": 2}}
    layers = {"pools": {pool: {"workers": count, "isolated": pool == "media"} for pool, count in pools.items()}}
    (paths.state / "appliance.toml").write_text(config.dump(table | layers), encoding="utf-8")
    try:
        with _started(paths.state, paths.runtime) as child:
            yield Running(place=Place(state=paths.state, runtime=paths.runtime), pid=child.pid)
    finally:
        shutil.rmtree(paths.runtime, ignore_errors=True)
        shutil.rmtree(paths.state, ignore_errors=True)


@contextmanager
def _started(state: Path, runtime: Path) -> Iterator[subprocess.Popen[bytes]]:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as ear, (state / QUIET).open("wb") as log:
        ear.bind(str(runtime / "bench-ready"))
        surroundings = os.environ | {"NOTIFY_SOCKET": str(runtime / "bench-ready"), "PYTHONPATH": str(ROOT)}
        argv = [sys.executable, "-m", "appliance", "--state", str(state), "run"]
        with subprocess.Popen(argv, stderr=log, stdin=subprocess.DEVNULL, cwd=ROOT, env=surroundings) as child:
            try:
                _await_ready(ear, state / QUIET)
                yield child
            finally:
                child.send_signal(signal.SIGTERM)
                child.wait(timeout=60)


def _await_ready(ear: socket.socket, log: Path) -> None:
    while select.select([ear], [], [], START_S)[0]:
        if b"READY=1" in ear.recv(4_096):
            return
    message = f"the appliance did not start: {log.read_text(encoding='utf-8')}"
    raise TimeoutError(message)


def await_end(ledger: Ledger, runtime: Path, id_: int, timeout_ms: int = 600_000) -> None:
    """Wait until a job has come to an end."""
    waiter = Waiter(runtime, ("ends",), f"bench-{os.getpid()}")
    try:
        for _ in range(timeout_ms // LOOK_MS):
            if history.ended(ledger, [id_]).get(id_):
                return
            waiter.wait(LOOK_MS)
    finally:
        waiter.close()
    message = f"job {id_} did not end"
    raise TimeoutError(message)


@contextmanager
def ear(runtime: Path) -> Iterator[socket.socket]:
    """The address to which the bench's handlers tell when they started."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as found:
        path = runtime / "bench-ear"
        found.bind(str(path))
        try:
            yield found
        finally:
            path.unlink()


def heard(ear: socket.socket, timeout_s: float) -> tuple[int, int, int, int] | None:
    """What a handler told: boot time in ns, job, attempt, pid; None when none did in time."""
    if not select.select([ear], [], [], timeout_s)[0]:
        return None
    at_ns, job, attempt, pid = map(int, ear.recv(256).split())
    return at_ns, job, attempt, pid
