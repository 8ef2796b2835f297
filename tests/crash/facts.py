"""Waiting for a fact with a deadline: what a test of real processes does instead of sleeping."""

from __future__ import annotations

import select
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from appliance.site import boot

T = TypeVar("T")


def until(fact: Callable[[], T], *, seconds: float = 20.0, what: str = "the fact") -> T:
    """The first true value that the fact has; a test failure when it has none in time."""
    end = time.monotonic() + seconds
    while not (value := fact()):
        assert time.monotonic() < end, f"{what} did not come in {seconds} s"
        select.select([], [], [], 0.01)
    return value


def gone(pid: int, start_ticks: int | None = None) -> bool:
    """Whether this process has ended, reaped or not."""
    found = boot.stat(pid)
    return found is None or found.dead or start_ticks not in (None, found.start_ticks)


def times_woken(pid: int) -> int:
    """How often a process has slept and woken (proc_pid_status(5), voluntary_ctxt_switches)."""
    lines = Path(f"/proc/{pid}/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("voluntary"))
