"""An appliance for the length of a command: the one that runs, or one of our own that ends with the command."""

from __future__ import annotations

import contextlib
import os
import secrets
import select
import signal
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from appliance import wiring
from appliance.cli import access
from appliance.clock import SYSTEM
from appliance.errors import NotStartedError
from appliance.log import Log
from appliance.runtime.supervision import fork
from appliance.site.config import Paths
from appliance.store.wake import Waiter

LOG: Final = "appliance.log"
START_MS_MAX: Final = 60_000
LOOK_MS: Final = 200  # an appliance that starts is looked at so often, where no news comes of it
STOP_MS_MAX: Final = 40_000


@contextmanager
def hosted(paths: Paths) -> Iterator[bool]:
    """Make sure that an appliance is up on these paths; whether it is our own.

    Raises ``NotStartedError`` when none comes up.
    """
    paths.make()
    if _joined(paths):
        yield False
        return
    with _ear() as ear:
        pid = _start(paths, ear)
        pidfd = os.pidfd_open(pid)
        try:
            own = _ready(ear, pidfd)
            if not own and not _joined(paths):  # another command may have been first
                raise _not_started(paths)
            yield own
        finally:
            _stop(pid, pidfd)


def _joined(paths: Paths) -> bool:
    """Whether an appliance runs that is not our own; one that just starts is waited for, until its processes have entered."""
    waiter = Waiter(paths.runtime, ("born",), f"command-{os.getpid()}")
    try:
        deadline = SYSTEM.boot() + START_MS_MAX
        while wiring.running(paths.state):
            if access.living(paths):
                return True
            if SYSTEM.boot() >= deadline:
                raise _not_started(paths)
            waiter.wait(LOOK_MS)
    finally:
        waiter.close()
    return False


@contextmanager
def _ear() -> Iterator[socket.socket]:
    """A socket that hears what a service manager would be told."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as ear:
        ear.bind(f"\0appliance-{secrets.token_hex(16)}")  # abstract: no path that could be too long, or be left behind
        yield ear


def _start(paths: Paths, ear: socket.socket) -> int:
    descriptor = os.open(paths.state / LOG, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    log = Log(wall_ms=SYSTEM.wall_ms, descriptor=descriptor)
    address = "@" + ear.getsockname()[1:].decode("ascii")
    try:
        return fork.fork(lambda: wiring.run(paths, SYSTEM, log, notify=address), settle=lambda: None, keep=(), log=log)
    finally:
        os.close(descriptor)


def _ready(ear: socket.socket, pidfd: int) -> bool:
    """Wait until our own appliance says that it is ready; False when it ends, or does not in time."""
    deadline = SYSTEM.boot() + START_MS_MAX
    while (left := deadline - SYSTEM.boot()) > 0:
        heard, _, _ = select.select([ear.fileno(), pidfd], [], [], left / 1_000)
        if ear.fileno() in heard and b"READY=1" in ear.recv(4096).split(b"\n"):
            return True
        if pidfd in heard:
            break
    return False


def _not_started(paths: Paths) -> NotStartedError:
    return NotStartedError(f"the appliance did not start; its log is {paths.state / LOG}")


def _stop(pid: int, pidfd: int) -> None:
    """Ask, wait, and end it for good when it does not; it holds nothing that the next start would not free."""
    with contextlib.suppress(ProcessLookupError):
        signal.pidfd_send_signal(pidfd, signal.SIGTERM)
        if not select.select([pidfd], [], [], STOP_MS_MAX / 1_000)[0]:
            signal.pidfd_send_signal(pidfd, signal.SIGKILL)
    os.close(pidfd)
    with contextlib.suppress(ChildProcessError):
        os.waitpid(pid, 0)
