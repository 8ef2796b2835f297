"""The turnstile: writers queue at a blocking ``flock`` and enter the ledger one by one.

SQLite's own busy wait polls, and starves: of four writers one waited 4 s while the others went round and round.  A blocking lock
is a queue kept by the kernel, fair, and it dies with its holder.  Whoever is inside writes (process, ticket, boot time) to a
shared page, so the supervisor can tell a holder that is frozen (the same ticket past a limit) from one that is busy.

The file is never unlinked: two inodes would be two turnstiles.  It is opened after the fork: a descriptor shared with a parent
shares its lock.  Threads of one process are not kept apart, so a process has one writer thread.
"""

from __future__ import annotations

import fcntl
import mmap
import os
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Self

from appliance.clock import BootInstant, Clock
from appliance.store.engine import Guard

PAGE: Final = struct.Struct("=QQQQQ")  # pid, start ticks, ticket, since (boot ms, 0 = nobody inside), storage failing since
TURNSTILE: Final = "ledger.turnstile"
PAGE_NAME: Final = "turnstile.page"


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """Who is inside, with which ticket, since when."""

    pid: int
    start_ticks: int
    ticket: int
    since: BootInstant


class TurnPage:
    """The shared page beside a turnstile, in memory.  One writer at a time: the holder of the turn."""

    def __init__(self, runtime: Path) -> None:
        """Map the page, making it when it is not there; it carries no state that must survive."""
        descriptor = os.open(runtime / PAGE_NAME, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            os.ftruncate(descriptor, mmap.PAGESIZE)
            self._map = mmap.mmap(descriptor, mmap.PAGESIZE)
        finally:
            os.close(descriptor)

    def held(self) -> Held | None:
        """Who is inside now; None when nobody is."""
        pid, start_ticks, ticket, since, _ = PAGE.unpack_from(self._map)
        return Held(pid=pid, start_ticks=start_ticks, ticket=ticket, since=BootInstant(since)) if since else None

    def failing(self) -> bool:
        """Whether a sync of the ledger failed since the page was made: then nothing more is promised."""
        return bool(PAGE.unpack_from(self._map)[4])

    def latch_failing(self, at: BootInstant) -> None:
        """Remember, for all processes, that the storage is failing."""
        struct.pack_into("=Q", self._map, PAGE.size - 8, max(at.ms, 1))

    def open_latch(self) -> None:
        """The storage was found well again."""
        struct.pack_into("=Q", self._map, PAGE.size - 8, 0)

    def enter(self, pid: int, start_ticks: int, at: BootInstant) -> None:
        """Write the next ticket of whoever just got the turn."""
        ticket = PAGE.unpack_from(self._map)[2] + 1
        struct.pack_into("=QQQQ", self._map, 0, pid, start_ticks, ticket, max(at.ms, 1))

    def leave(self) -> None:
        """Nobody is inside any more."""
        struct.pack_into("=Q", self._map, 24, 0)

    def close(self) -> None:
        """Unmap."""
        self._map.close()


class Turnstile:
    """One process's place in the queue of writers; use as a context manager around each transaction."""

    def __init__(self, state: Path, page: TurnPage, clock: Clock, start_ticks: int) -> None:
        """Open the turnstile's file beside the ledger."""
        self._guard = Guard()
        self._descriptor = os.open(state / TURNSTILE, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        self._page = page
        self._clock = clock
        self._start_ticks = start_ticks
        self._inside = False

    def __enter__(self) -> Self:
        """Wait for the turn.  The wait is bounded by the rescue: a holder past its limit is killed by the supervisor."""
        self._guard.check()
        if self._inside:
            message = "a turn was asked for inside a turn: its end would let others into the outer one"
            raise RuntimeError(message)
        fcntl.flock(self._descriptor, fcntl.LOCK_EX)
        self._inside = True
        self._page.enter(self._guard.pid, self._start_ticks, self._clock.boot())
        return self

    def renew(self) -> None:
        """Take another ticket inside: whoever waits for something that may take long shows that it is not frozen."""
        self._page.enter(self._guard.pid, self._start_ticks, self._clock.boot())

    def __exit__(self, *_: object) -> None:
        """Let the next one in."""
        self._page.leave()
        self._inside = False
        fcntl.flock(self._descriptor, fcntl.LOCK_UN)

    def close(self) -> None:
        """Leave the queue for good."""
        os.close(self._descriptor)
