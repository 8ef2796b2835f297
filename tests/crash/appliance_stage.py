"""A real appliance for tests that kill: ``python -m appliance --state DIR --config FILE run`` as a session of its own.

It is up when it says so (``READY=1`` to its ``NOTIFY_SOCKET``), its processes are known by the names under which they entered
``live.db``, and when the block ends it is stopped, and nothing of its session may be left.
"""

from __future__ import annotations

import json
import os
import secrets
import select
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from appliance.clock import SYSTEM
from appliance.coordination import history, processes, queue
from appliance.coordination.history import Event, Shown
from appliance.coordination.outcomes import Json
from appliance.coordination.work import Submission
from appliance.runtime.supervision import identity
from appliance.site import boot, config
from appliance.site.config import Paths
from appliance.store.ledger import Ledger, Place
from appliance.store.live import Live
from tests.crash.facts import gone, until

ROOT: Final = Path(__file__).parents[2]


def settings(*, modules: Sequence[str] = ("tests.vendor_handlers",), workers: int = 2, locked: int = 1, stop_s: int = 2) -> str:
    """A settings file with these handlers, so many workers in the default and in the isolated pool, and short restarts."""
    return f"""
[handlers]
built_in = false
modules = {json.dumps(list(modules))}
[pools.default]
workers = {workers}
[pools.locked]
workers = {locked}
isolated = true
[stop]
seconds = {stop_s}
[restarts]
most_seconds = 1
"""


@dataclass(slots=True, kw_only=True)
class Appliance:
    """An appliance in a folder: at work or not, it can be asked and looked into."""

    folder: Path
    process: subprocess.Popen[bytes] | None = None
    sessions: list[int] = field(default_factory=list)

    @property
    def paths(self) -> Paths:
        """Its folders."""
        return config.paths(config.environment(), state=self.folder / "state", config=self.folder / "settings.toml")

    @property
    def argv(self) -> list[str]:
        """The beginning of every command."""
        return [
            sys.executable,
            "-m",
            "appliance",
            "--state",
            str(self.folder / "state"),
            "--config",
            str(self.folder / "settings.toml"),
        ]

    def environment(self, **more: str) -> dict[str, str]:
        """What its processes get to see: the environment of the tests, and the way to the module of the vendor."""
        places = [str(ROOT), *([more.pop("PYTHONPATH")] if "PYTHONPATH" in more else [])]
        return config.environment() | {"PYTHONPATH": ":".join(places)} | more

    def settle(self, text: str) -> None:
        """Write its settings."""
        (self.folder / "settings.toml").write_text(text)

    def start(self, **variables: str) -> None:
        """Start it, and wait until it says that all is up."""
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as ear:
            address = f"appliance-{secrets.token_hex(8)}"
            ear.bind("\0" + address)
            process = self.launch(NOTIFY_SOCKET="@" + address, **variables)
            until(lambda: process.poll() is not None or _says_ready(ear), what="readiness")
            assert self.running(), self.log()
        self.complete()

    def complete(self) -> dict[str, int]:
        """Its processes by name, once every child of the supervisor has entered under one."""
        assert self.process is not None
        supervisor = self.process.pid
        until(lambda: sorted(self.pids().values()) == sorted(children(supervisor)), what="the entry of every child")
        return self.pids()

    def launch(self, **variables: str) -> subprocess.Popen[bytes]:
        """Start it, and do not wait."""
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen(
                [*self.argv, "run"],
                cwd=self.folder,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                env=self.environment(**variables),
            )
        self.sessions.append(self.process.pid)
        return self.process

    def running(self) -> bool:
        """Whether its supervisor lives."""
        return self.process is not None and self.process.poll() is None

    def log(self) -> str:
        """All that it logged."""
        return (self.folder / "log").read_text(errors="replace")

    def stop(self, number: signal.Signals = signal.SIGTERM, seconds: float = 20.0) -> int:
        """End it by a signal; its exit code."""
        assert self.process is not None
        self.process.send_signal(number)
        return self.process.wait(seconds)

    def members(self) -> list[int]:
        """The living processes of its sessions."""
        return [pid for pid in _pids() if _session(pid) in self.sessions and not gone(pid)]

    def close(self) -> None:
        """Stop it if it runs, and prove that nothing is left."""
        if self.running():
            for pid in self.members():
                os.kill(pid, signal.SIGCONT)
            self.stop()
        try:
            until(lambda: not self.members(), seconds=2, what="the end of all its processes")
        finally:
            for pid in self.members():
                os.kill(pid, signal.SIGKILL)
            shutil.rmtree(self.paths.runtime, ignore_errors=True)

    # --- asking ----------------------------------------------------------------------------------

    def command(self, *arguments: str, stdin: str = "", seconds: float = 30.0) -> subprocess.CompletedProcess[str]:
        """A command of the appliance, to its end."""
        return subprocess.run(
            [*self.argv, *arguments],
            cwd=self.folder,
            input=stdin,
            capture_output=True,
            text=True,
            timeout=seconds,
            env=self.environment(),
            check=False,
        )

    def begin(self, *arguments: str, new_session: bool = False) -> subprocess.Popen[bytes]:
        """A command of the appliance, begun and not waited for; in a session of its own, all that it starts is watched."""
        command = subprocess.Popen(
            [*self.argv, *arguments],
            cwd=self.folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=self.environment(),
            start_new_session=new_session,
        )
        self.sessions += [command.pid] if new_session else []
        return command

    def json(self, *arguments: str) -> list[Any]:
        """The JSON lines of a command."""
        return [json.loads(line) for line in self.command(*arguments, "--json").stdout.splitlines()]

    @contextmanager
    def ledger(self) -> Iterator[Ledger]:
        """Its ledger, opened by the test itself."""
        ledger = Ledger(Place(state=self.paths.state, runtime=self.paths.runtime), SYSTEM, boot.start_ticks(os.getpid()) or 0)
        try:
            yield ledger
        finally:
            ledger.close()

    def submit(self, kind: str, payloads: Sequence[Json], *, priority: int = 0) -> list[int]:
        """Hand in work by the product's own code; the ids."""
        asked = [Submission(kind=kind, payload=payload, work_id=secrets.token_hex(8), priority=priority) for payload in payloads]
        with self.ledger() as ledger, ledger.write() as tx:
            return [answer.id for answer in queue.submit(tx, asked)]

    def show(self, id_: int) -> Shown:
        """A job as it stands."""
        with self.ledger() as ledger:
            return history.show(ledger, id_)

    def events(self, id_: int) -> list[Event]:
        """The history of a job."""
        with self.ledger() as ledger:
            return history.events(ledger, id_, most=90_000)

    def moves(self, id_: int) -> list[str]:
        """The moves of a job itself, in order."""
        return [event.move for event in self.events(id_) if event.noun == "job"]

    def ended(self, *ids: int, seconds: float = 20.0) -> list[Shown]:
        """The jobs, once all of them have come to an end."""
        with self.ledger() as ledger:
            for id_ in ids:
                until(lambda id_=id_: history.ended(ledger, [id_]).get(id_), seconds=seconds, what=f"the end of job {id_}")  # type: ignore[misc]
            return [history.show(ledger, id_) for id_ in ids]

    def stands(self, id_: int, *states: str, seconds: float = 20.0) -> Shown:
        """The job, once it stands in one of these states."""
        with self.ledger() as ledger:
            until(lambda: history.state(ledger, id_) in states, seconds=seconds, what=f"job {id_} in {states}")
            return history.show(ledger, id_)

    def pids(self) -> dict[str, int]:
        """The living processes by the names under which they entered."""
        live = Live(self.paths.runtime, boot.boot_id())
        try:
            known = [(each.name, identity.parse(each.holder)) for each in processes.entered(live)]
        finally:
            live.close()
        return {name: process.pid for name, process in known if process is not None and identity.alive(process)}

    def holder(self, id_: int, seconds: float = 20.0) -> int:
        """The pid of the process that holds a job, once one does."""
        shown = self.stands(id_, "leased", seconds=seconds)
        return _pid_of(shown.holder)


def _pid_of(holder: str | None) -> int:
    process = identity.parse(holder or "")
    assert process is not None, "nobody holds it"
    return process.pid


def children(parent: int) -> list[int]:
    """The living children of a process."""
    return [pid for pid in _pids() if (found := boot.stat(pid)) is not None and found.parent == parent and not found.dead]


def hands(worker: int) -> list[int]:
    """The living hands of a worker."""
    return children(worker)


def _pids() -> list[int]:
    return [int(name) for name in os.listdir("/proc") if name.isdecimal()]


def _says_ready(ear: socket.socket) -> bool:
    ready, _, _ = select.select([ear], [], [], 0.1)
    return bool(ready) and b"READY=1" in ear.recv(4096).split(b"\n")


def _session(pid: int) -> int:
    try:
        raw = Path(f"/proc/{pid}/stat").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return 0
    return int(raw[raw.rindex(b")") + 2 :].split()[3])


@contextmanager
def appliance(folder: Path, text: str | None = None, *, start: bool = True) -> Iterator[Appliance]:
    """An appliance for the length of a block."""
    found = Appliance(folder=folder)
    found.settle(settings() if text is None else text)
    try:
        if start:
            found.start()
        yield found
    finally:
        found.close()
