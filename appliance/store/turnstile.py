"""The turnstile: writers queue at a blocking ``flock`` and enter the ledger one by one.

SQLite's own busy wait polls, and starves: of four writers one waited 4 s while the others went round and round.  One blocking lock
alone is no queue either: the kernel wakes who waits, but who just left and is still running takes the lock again before the other
is awake (of 1,500 commits of 0.2 ms three writers made 1,316, 168 and 16, and one waited 242 ms).  So there is a door before the
turn: whoever waits for the turn holds the door, and whoever comes back waits at the door until that one is in.  The same three
made 667, 666 and 667, the longest wait was 3 ms (decision 0015).

Both locks die with their holder.  Whoever is inside writes (process, ticket, boot time) to a shared page, and so does whoever holds
the door, so the supervisor can tell a holder that is frozen (the same ticket past a limit) from one that is busy.

The files are never unlinked: two inodes would be two turnstiles.  They are opened after the fork: a descriptor shared with a parent
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
from appliance.store.room import mapped

HOLDER: Final = struct.Struct("=QQQQ")  # pid, start ticks, ticket, since (boot ms, 0 = nobody)
INSIDE: Final = 0
FAILING: Final = HOLDER.size  # since when the storage is failing (boot ms, 0 = it is well)
DOOR: Final = FAILING + 8
SINCE: Final = 24
DOOR_TICKETS: Final = 1 << 32  # a ticket of the door is never one of the inside
TURNSTILE: Final = "ledger.turnstile"
DOOR_NAME: Final = "ledger.door"
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
        """Map the page, making it when it is not there; it carries no state that must survive.

        Raises ``StorageFullError`` when there is no room for it.
        """
        descriptor = os.open(runtime / PAGE_NAME, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            self._map = mapped(descriptor, mmap.PAGESIZE)
        finally:
            os.close(descriptor)

    def held(self) -> Held | None:
        """Who keeps the others waiting now: whoever is inside, or holds the door while nobody living is; None when nobody does."""
        inside = self._read(INSIDE)
        return inside if inside is not None and _lives(inside.pid) else self.at_door()

    def at_door(self) -> Held | None:
        """Who waits for the turn, in front of all others."""
        door = self._read(DOOR)
        return door if door is not None and _lives(door.pid) else None

    def _read(self, at: int) -> Held | None:
        pid, start_ticks, ticket, since = HOLDER.unpack_from(self._map, at)
        return Held(pid=pid, start_ticks=start_ticks, ticket=ticket, since=BootInstant(since)) if since else None

    def failing(self) -> bool:
        """Whether a sync of the ledger failed since the page was made: then nothing more is promised."""
        return bool(struct.unpack_from("=Q", self._map, FAILING)[0])

    def latch_failing(self, at: BootInstant) -> None:
        """Remember, for all processes, that the storage is failing."""
        struct.pack_into("=Q", self._map, FAILING, max(at.ms, 1))

    def open_latch(self) -> None:
        """The storage was found well again."""
        struct.pack_into("=Q", self._map, FAILING, 0)

    def wait(self, pid: int, start_ticks: int, at: BootInstant) -> None:
        """Whoever just got the door."""
        ticket = HOLDER.unpack_from(self._map, DOOR)[2] + 1
        HOLDER.pack_into(self._map, DOOR, pid, start_ticks, max(ticket, DOOR_TICKETS), max(at.ms, 1))

    def enter(self, pid: int, start_ticks: int, at: BootInstant) -> None:
        """Write the next ticket of whoever just got the turn."""
        ticket = HOLDER.unpack_from(self._map, INSIDE)[2] + 1
        HOLDER.pack_into(self._map, INSIDE, pid, start_ticks, ticket, max(at.ms, 1))

    def pass_door(self) -> None:
        """Nobody holds the door any more."""
        self._set_since(DOOR, 0)

    def renew(self, at: BootInstant) -> None:
        """The next ticket of whoever is inside."""
        pid, start_ticks, ticket, _ = HOLDER.unpack_from(self._map, INSIDE)
        HOLDER.pack_into(self._map, INSIDE, pid, start_ticks, ticket + 1, max(at.ms, 1))

    def leave(self, at: BootInstant) -> None:
        """Nobody is inside any more; from now on whoever holds the door keeps the others waiting."""
        if self._read(DOOR) is not None:
            self._set_since(DOOR, max(at.ms, 1))
        self._set_since(INSIDE, 0)

    def _set_since(self, at: int, since_ms: int) -> None:
        struct.pack_into("=Q", self._map, at + SINCE, since_ms)

    def close(self) -> None:
        """Unmap."""
        self._map.close()


def _lives(pid: int) -> bool:
    """Whether there is such a process; one that died inside left its entry behind, and the kernel took its lock."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


class Turnstile:
    """One process's place in the queue of writers; use as a context manager around each transaction."""

    def __init__(self, state: Path, page: TurnPage, clock: Clock, start_ticks: int) -> None:
        """Open the turnstile's files beside the ledger."""
        self._guard = Guard()
        self._door, self._turn = (
            os.open(state / name, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600) for name in (DOOR_NAME, TURNSTILE)
        )
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
        fcntl.flock(self._door, fcntl.LOCK_EX)
        try:
            self._page.wait(self._guard.pid, self._start_ticks, self._clock.boot())
            fcntl.flock(self._turn, fcntl.LOCK_EX)
            self._inside = True
            self._page.enter(self._guard.pid, self._start_ticks, self._clock.boot())
        finally:
            self._page.pass_door()
            fcntl.flock(self._door, fcntl.LOCK_UN)
        return self

    def renew(self) -> None:
        """Take another ticket inside: whoever waits for something that may take long shows that it is not frozen."""
        self._page.renew(self._clock.boot())

    def __exit__(self, *_: object) -> None:
        """Let the next one in."""
        self._page.leave(self._clock.boot())
        self._inside = False
        fcntl.flock(self._turn, fcntl.LOCK_UN)

    def close(self) -> None:
        """Leave the queue for good."""
        os.close(self._door)
        os.close(self._turn)
