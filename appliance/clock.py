"""Time, as three types that cannot be compared with each other.

``BootInstant``    milliseconds of ``CLOCK_BOOTTIME``: leases, limits, beats.  Means nothing after the next boot.
``LedgerInstant``  the ledger's own time, an offset stored in it plus boot time: rank, back-off, snooze, retention.  It never
                   goes back and ignores steps of the wall clock.
``WallInstant``    milliseconds since 1970 by the wall clock: dates that people read and give.  May jump.

Nothing else in the product reads a clock: a ``Clock`` is passed in.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self, final, overload


@dataclass(frozen=True, slots=True)
class _Instant:
    """A point in one kind of time, in whole milliseconds.  Order and difference exist only within the kind."""

    ms: int

    def __add__(self, ms: int) -> Self:
        return type(self)(self.ms + ms)

    @overload
    def __sub__(self, other: int) -> Self: ...
    @overload
    def __sub__(self, other: Self) -> int: ...
    def __sub__(self, other: int | Self) -> Self | int:
        if isinstance(other, int):
            return type(self)(self.ms - other)
        return self.ms - self._same(other)

    def __lt__(self, other: Self) -> bool:
        return self.ms < self._same(other)

    def __le__(self, other: Self) -> bool:
        return self.ms <= self._same(other)

    def __gt__(self, other: Self) -> bool:
        return self.ms > self._same(other)

    def __ge__(self, other: Self) -> bool:
        return self.ms >= self._same(other)

    def __eq__(self, other: object) -> bool:
        return self.ms == self._same(other)

    def __hash__(self) -> int:
        return hash((type(self), self.ms))

    def _same(self, other: object) -> int:
        if type(other) is not type(self):
            message = f"a {type(self).__name__} cannot be compared with a {type(other).__name__}"
            raise TypeError(message)
        return other.ms


@final
class BootInstant(_Instant):
    """Milliseconds since this machine booted, suspended time included."""

    __slots__ = ()


@final
class LedgerInstant(_Instant):
    """Milliseconds of the ledger's own, never falling time."""

    __slots__ = ()


@final
class WallInstant(_Instant):
    """Milliseconds since 1970-01-01 UTC, as the wall clock has it now."""

    __slots__ = ()


def _boot_ms() -> int:
    return time.clock_gettime_ns(time.CLOCK_BOOTTIME) // 1_000_000


def _wall_ms() -> int:
    return time.time_ns() // 1_000_000


def _boot_id() -> str:
    return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()


@dataclass(frozen=True, slots=True, kw_only=True)
class Clock:
    """The three times.  ``offset_ms`` is the ledger's: ledger time = boot time + offset.

    ``boot_id`` is the kernel's random name of the boot (proc(5)), without which boot time says nothing.
    """

    boot_ms: Callable[[], int] = _boot_ms
    wall_ms: Callable[[], int] = _wall_ms
    boot_id: Callable[[], str] = _boot_id
    offset_ms: int = 0

    def boot(self) -> BootInstant:
        """The time since boot."""
        return BootInstant(self.boot_ms())

    def wall(self) -> WallInstant:
        """The wall clock's reading, trusted or not."""
        return WallInstant(self.wall_ms())

    def ledger(self) -> LedgerInstant:
        """The ledger's time."""
        return LedgerInstant(self.boot_ms() + self.offset_ms)

    def with_offset(self, offset_ms: int) -> Clock:
        """The same clock for a ledger with this offset."""
        return replace(self, offset_ms=offset_ms)


SYSTEM = Clock()
