"""An appliance for the length of a command: the one that runs, or one of our own that ends with the command."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from appliance import wiring
from appliance.clock import SYSTEM
from appliance.errors import NotStartedError
from appliance.log import Log
from appliance.runtime import fork
from appliance.site.config import Paths

LOG: Final = "appliance.log"
NOTIFY: Final = "ready"
START_MS_MAX: Final = 60_000
STOP_MS_MAX: Final = 40_000


@contextmanager
def hosted(paths: Paths) -> Iterator[bool]:
    """Make sure that an appliance runs on these paths; whether it is our own.

    Raises ``NotStartedError`` when our own does not come up.
    """
    paths.make()
    if wiring.running(paths.state):
        yield False
        return
    with _ear(paths.runtime / f"{NOTIFY}-{os.getpid()}") as ear:
        pid = _start(paths, ear)
        pidfd = os.pidfd_open(pid)
        try:
            _await_ready(paths, ear, pidfd)
            yield True
        finally:
            _stop(pid, pidfd)


@contextmanager
def _ear(path: Path) -> Iterator[socket.socket]:
    """A socket that hears what a service manager would be told."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as ear:
        path.unlink(missing_ok=True)
        ear.bind(str(path))
        try:
            yield ear
        finally:
            path.unlink(missing_ok=True)


def _start(paths: Paths, ear: socket.socket) -> int:
    descriptor = os.open(paths.state / LOG, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    log = Log(wall_ms=SYSTEM.wall_ms, descriptor=descriptor)
    address = str(ear.getsockname())
    try:
        return fork.fork(lambda: wiring.run(paths, SYSTEM, log, notify=address), settle=lambda: None, keep=(), log=log)
    finally:
        os.close(descriptor)


def _await_ready(paths: Paths, ear: socket.socket, pidfd: int) -> None:
    deadline = SYSTEM.boot() + START_MS_MAX
    while (left := deadline - SYSTEM.boot()) > 0:
        ready, _, _ = select.select([ear.fileno(), pidfd], [], [], left / 1_000)
        if ear.fileno() in ready and b"READY=1" in ear.recv(4096).split(b"\n"):
            return
        if pidfd in ready:
            break
    message = f"the appliance did not start; its log is {paths.state / LOG}"
    raise NotStartedError(message)


def _stop(pid: int, pidfd: int) -> None:
    """Ask, wait, and end it for good when it does not; it holds nothing that the next start would not free."""
    with contextlib.suppress(ProcessLookupError):
        signal.pidfd_send_signal(pidfd, signal.SIGTERM)
        if not select.select([pidfd], [], [], STOP_MS_MAX / 1_000)[0]:
            signal.pidfd_send_signal(pidfd, signal.SIGKILL)
    os.close(pidfd)
    with contextlib.suppress(ChildProcessError):
        os.waitpid(pid, 0)
