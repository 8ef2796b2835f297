"""The rescue from a holder that is frozen inside the turnstile: all writers wait behind it, so it is killed.

A holder is busy as long as its ticket changes.  The same ticket, seen in two passes and older than the limit, on a box that gives
its processes their turn, means that it is stopped, suspended or stuck.  Killing frees the turnstile at once, and SQLite rolls back;
SIGKILL reaches a stopped process too.  It need not be our child: a command of the same user can hold the turnstile as well.
"""

from __future__ import annotations

import contextlib
import os
import signal
from dataclasses import dataclass

from appliance.clock import BootInstant
from appliance.runtime.supervision import identity
from appliance.runtime.supervision.identity import Process
from appliance.site import boot


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """Who is inside the turnstile, with which ticket, since when."""

    pid: int
    start_ticks: int
    ticket: int
    since: BootInstant


def overdue(held: Held, before: Held | None, now: BootInstant, limit_ms: int) -> bool:
    """Whether one holder has kept one ticket too long.  ``before`` is what an earlier pass saw: a single look could be torn."""
    return held == before and now - held.since >= limit_ms


def kill(held: Held) -> bool:
    """Kill this very holder, if it still lives and we may; whether the signal was sent."""
    descriptor = identity.pidfd(Process(boot_id=boot.boot_id(), pid=held.pid, start_ticks=held.start_ticks, nonce=""))
    if descriptor is None:
        return False
    try:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            signal.pidfd_send_signal(descriptor, signal.SIGKILL)
            return True
    finally:
        os.close(descriptor)
    return False
