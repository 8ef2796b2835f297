"""The three ``prctl`` calls that Python does not offer (prctl(2))."""

from __future__ import annotations

import ctypes
import os
import signal
from typing import Final

PR_SET_PDEATHSIG: Final = 1
PR_SET_CHILD_SUBREAPER: Final = 36
PR_SET_NO_NEW_PRIVS: Final = 38


def die_with(parent: int) -> None:
    """Be killed when the thread that made this process ends; end at once if it has ended already.

    The signal is armed first and the parent looked at afterwards, so no gap is left between the two.
    """
    _prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(0)


def adopt_orphans() -> None:
    """Become the parent of every descendant whose own parent dies, so that none is lost sight of."""
    _prctl(PR_SET_CHILD_SUBREAPER, 1)


def renounce_privileges() -> None:
    """Gain nothing from a set-user-id program any more, nor may anything that this process starts."""
    _prctl(PR_SET_NO_NEW_PRIVS, 1)


def _prctl(option: int, value: int) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(option, ctypes.c_ulong(value), ctypes.c_ulong(0), ctypes.c_ulong(0), ctypes.c_ulong(0)) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"prctl({option}): {os.strerror(number)}")
