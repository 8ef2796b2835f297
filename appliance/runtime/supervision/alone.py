"""One supervisor of a release on a state folder: a lock of the kernel's, which dies with its holder, and which can be asked about.

It is a lock of the open file description (fcntl(2), ``F_OFD_SETLK``): unlike ``flock`` it can be tested without being taken, so a
command that asks whether an appliance runs never makes one that just starts believe so.
"""

from __future__ import annotations

import fcntl
import os
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from appliance import errors

LOCK: Final = "supervisor.lock"
FLOCK: Final = struct.Struct("hhqqi4x")  # type, whence, start, length (0: all), pid (0 for these locks)
WHOLE: Final = FLOCK.pack(fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0)


@contextmanager
def hold(state: Path) -> Iterator[None]:
    """Be the only supervisor of a state folder while the block lasts.

    Raises ``AlreadyRunningError`` when there is one.
    """
    descriptor = os.open(state / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        try:
            fcntl.fcntl(descriptor, fcntl.F_OFD_SETLK, WHOLE)
        except BlockingIOError:
            message = f"another supervisor works on {state}"
            raise errors.AlreadyRunningError(message) from None
        yield
    finally:
        os.close(descriptor)


def held(state: Path) -> bool:
    """Whether a supervisor works on this state folder now; asking takes nothing."""
    try:
        descriptor = os.open(state / LOCK, os.O_RDWR | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    try:
        found = fcntl.fcntl(descriptor, fcntl.F_OFD_GETLK, WHOLE)
    finally:
        os.close(descriptor)
    return bool(FLOCK.unpack(found)[0] != fcntl.F_UNLCK)
