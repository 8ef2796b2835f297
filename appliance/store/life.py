"""The ledger's own time over boots: its offset in the boot that is now, and the beginning of each.

Ledger time is boot time plus an offset.  In a new boot it goes on from the last stored value.  ``prepare`` stores the offset of a
boot; whoever opens the ledger before it did works with the same offset, computed from the same facts.
"""

from __future__ import annotations

import secrets
from typing import Final

import apsw

from appliance.clock import Clock

TRUSTED_WALL_MS: Final = 1_735_689_600_000  # 2025-01-01: a clock that reads earlier has not been set since power came
OFF_MS_MAX: Final = 10 * 366 * 86_400_000


def offset_after_boot(*, last_ledger_ms: int, last_wall_ms: int, boot_ms: int, wall_ms: int) -> int:
    """The ledger's offset in a new boot: its time goes on from the last stored value, plus the time off.

    The time off counts only where both wall readings are trusted and it is neither negative nor over ten years.
    """
    off_ms = wall_ms - last_wall_ms
    trusted = min(wall_ms, last_wall_ms) >= TRUSTED_WALL_MS and 0 <= off_ms <= OFF_MS_MAX
    return last_ledger_ms + (off_ms if trusted else 0) - boot_ms


def offset_ms(connection: apsw.Connection, clock: Clock) -> int:
    """The offset in the boot that is now, stored or not."""
    known_boot, stored_ms, ledger_ms, at_wall_ms = connection.execute("SELECT boot_id, offset_ms, at_ms, wall_ms FROM ledger").get
    if known_boot == clock.boot_id():
        offset: int = stored_ms
        return offset
    newest_ms = connection.execute("SELECT max(at_ms) FROM event WHERE seq = (SELECT max(seq) FROM event)").get or 0
    last_ms = max(ledger_ms, newest_ms)
    return offset_after_boot(
        last_ledger_ms=last_ms,
        last_wall_ms=at_wall_ms + (last_ms - ledger_ms),
        boot_ms=clock.boot().ms,
        wall_ms=clock.wall().ms,
    )


def begin(connection: apsw.Connection, clock: Clock) -> None:
    """Give a new ledger its incarnation, and every ledger its offset in this boot.  Inside a transaction of the caller's."""
    boot_id, boot_ms, wall_ms = clock.boot_id(), clock.boot().ms, clock.wall().ms
    incarnation, known_boot = connection.execute("SELECT incarnation, boot_id FROM ledger").get
    if known_boot == boot_id:
        return
    offset = offset_ms(connection, clock) if incarnation else wall_ms - boot_ms
    connection.execute(
        "UPDATE ledger SET incarnation = ?, boot_id = ?, offset_ms = ?, at_ms = ?, wall_ms = ?",
        (incarnation or secrets.token_hex(8), boot_id, offset, boot_ms + offset, wall_ms),
    )
