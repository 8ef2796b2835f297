"""Who a process is: a name that no other process, before or after, on this machine or this boot, will ever have.

A pid alone is used again.  With the boot's random id and the start time the kernel's own bookkeeping makes it unique; the nonce
adds what survives a clone of the whole machine, and names the process's files.  The text form is the ``holder`` in the ledger.
"""

from __future__ import annotations

import os
import re
import secrets
from dataclasses import dataclass
from typing import Final

from appliance.site import boot

TEXT: Final = re.compile(r"([0-9a-f-]{36})/([1-9][0-9]{0,9})/([0-9]{1,19})/([0-9a-f]{8,64})")


@dataclass(frozen=True, slots=True, kw_only=True)
class Process:
    """One process of one boot.  ``str()`` gives ``boot/pid/start/nonce``, ``parse`` takes it back."""

    boot_id: str
    pid: int
    start_ticks: int
    nonce: str

    def __str__(self) -> str:
        return f"{self.boot_id}/{self.pid}/{self.start_ticks}/{self.nonce}"


def new_nonce() -> str:
    """A name that nobody can guess, fit for a file."""
    return secrets.token_hex(8)


def parse(text: str) -> Process | None:
    """The process that a text names, or None when it names none."""
    found = TEXT.fullmatch(text)
    if found is None:
        return None
    boot_id, pid, start, nonce = found.groups()
    return Process(boot_id=boot_id, pid=int(pid), start_ticks=int(start), nonce=nonce)


def of(pid: int, nonce: str) -> Process | None:
    """The process that has this pid now, under the given nonce."""
    start = boot.start_ticks(pid)
    return None if start is None else Process(boot_id=boot.boot_id(), pid=pid, start_ticks=start, nonce=nonce)


def current(nonce: str) -> Process:
    """The calling process."""
    found = of(os.getpid(), nonce)
    if found is None:
        message = "/proc does not show the calling process: is it mounted with hidepid or from another pid namespace?"
        raise ProcessLookupError(message)
    return found


def alive(process: Process) -> bool:
    """Whether this very process still lives; a zombie, a successor in its pid and one of another boot do not."""
    if process.boot_id != boot.boot_id():
        return False
    found = boot.stat(process.pid)
    return found is not None and found.start_ticks == process.start_ticks and not found.dead


def pidfd(process: Process) -> int | None:
    """A descriptor that is readable once this very process has died, and that signals nobody else; None when it is dead.

    Opened first and compared afterwards: what the descriptor holds can no longer be replaced, so a start time that agrees
    then proves that it is the one that was meant.
    """
    try:
        descriptor = os.pidfd_open(process.pid)
    except ProcessLookupError:
        return None
    if alive(process):
        return descriptor
    os.close(descriptor)
    return None
