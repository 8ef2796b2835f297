"""The ledger's making, its schema and its floor, and its time over a boot."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import apsw
import pytest

from appliance import errors
from appliance.clock import Clock
from appliance.coordination import triggers
from appliance.store import migrations, schema
from appliance.store.ledger import LEDGER, Ledger, Place
from tests.ledger.box import Dial, found, place


def migrate(where: Place, clock: Clock) -> list[int]:
    """As ``prepare`` does."""
    return migrations.migrate(where, clock, triggers.statements(), release="test")


def facts(where: Place) -> tuple[object, ...]:
    """The ledger's one row."""
    connection = apsw.Connection(str(where.state / LEDGER))
    (row,) = connection.execute("SELECT floor, incarnation, boot_id, offset_ms, at_ms FROM ledger").fetchall()
    connection.close()
    return tuple(row)


def by_hand(where: Place, sql: str) -> None:
    """What a later release has done to the ledger."""
    connection = apsw.Connection(str(where.state / LEDGER))
    connection.execute(sql)
    connection.close()


def test_a_new_ledger_has_every_migration_and_a_life(tmp_path: Path) -> None:
    """Recorded with their digests; a second time changes nothing."""
    where, clock = place(tmp_path), Dial().clock()
    numbers = [migration.number for migration in schema.migrations()]
    assert migrate(where, clock) == numbers
    before = facts(where)
    assert migrate(where, clock) == []
    assert facts(where) == before
    connection = apsw.Connection(str(where.state / LEDGER))
    recorded = connection.execute("SELECT number, sha256 FROM migration ORDER BY number").fetchall()
    connection.close()
    assert recorded == [(migration.number, migration.sha256) for migration in schema.migrations()]


@pytest.mark.parametrize("how", ["prepare", "open"])
def test_a_ledger_with_a_floor_above_this_release_is_refused_before_the_first_write_p16(tmp_path: Path, how: str) -> None:
    """An old program neither migrates nor opens a ledger that it would not understand."""
    where, clock = place(tmp_path), Dial().clock()
    found(where, clock).close()
    by_hand(where, "UPDATE ledger SET floor = 999; PRAGMA user_version = 999; PRAGMA wal_checkpoint = truncate")
    before = (where.state / LEDGER).read_bytes()
    act: Callable[[], object] = {
        "prepare": lambda: migrate(where, Dial(boot_id="another").clock()),
        "open": lambda: Ledger(where, clock, 1),
    }[how]
    with pytest.raises(errors.LedgerTooNewError, match="999"):
        act()
    assert (where.state / LEDGER).read_bytes() == before
    assert (where.state / f"{LEDGER}-wal").stat().st_size == 0


def test_a_later_schema_with_an_earlier_floor_is_worked_with_p16(tmp_path: Path) -> None:
    """The release before must still be able to write, and leaves the later one's triggers alone."""
    where, clock = place(tmp_path), Dial().clock()
    found(where, clock).close()
    by_hand(where, "PRAGMA user_version = 999; UPDATE ledger SET triggers_sha256 = 'of a later release'")
    assert migrate(where, clock) == []
    connection = apsw.Connection(str(where.state / LEDGER))
    assert connection.execute("SELECT triggers_sha256 FROM ledger").get == "of a later release"
    connection.close()
    found(where, clock).close()


def test_triggers_are_made_anew_when_the_table_of_moves_changed(tmp_path: Path) -> None:
    """Whatever was typed into them in between is gone."""
    where, clock = place(tmp_path), Dial().clock()
    found(where, clock).close()
    by_hand(where, "DROP TRIGGER job_moves; DELETE FROM move; UPDATE ledger SET triggers_sha256 = ''")
    migrate(where, clock)
    connection = apsw.Connection(str(where.state / LEDGER))
    assert connection.execute("SELECT count(*) FROM sqlite_schema WHERE name = 'job_moves'").get == 1
    assert connection.execute("SELECT count(*) FROM move").get > 50
    connection.close()


def test_a_ledger_can_give_pages_back_in_small_steps(tmp_path: Path) -> None:
    """A box that was busy once does not keep a large file for ever; whether that is possible is decided when the file is made."""
    where = place(tmp_path)
    migrate(where, Dial().clock())
    connection = apsw.Connection(str(where.state / LEDGER))
    connection.execute("CREATE TABLE filler (content BLOB); INSERT INTO filler VALUES (zeroblob(1000000)); DROP TABLE filler")
    before = connection.execute("PRAGMA freelist_count").get
    connection.execute("PRAGMA incremental_vacuum(100)").fetchall()
    assert connection.execute("PRAGMA freelist_count").get == before - 100
    connection.close()


@pytest.mark.parametrize("wall_ms", [0, 1_800_000_000_000, 1_700_000_000_000, 9_000_000_000_000])
def test_ledger_time_goes_on_over_a_boot_p11(tmp_path: Path, wall_ms: int) -> None:
    """Boot time begins at zero and the wall may say anything: no instant is before one that was."""
    where, dial = place(tmp_path), Dial()
    ledger = found(where, dial.clock())
    dial.pass_ms(5_000)
    with ledger.write() as tx:
        tx.rows("INSERT INTO term VALUES ('x', 1, 'h', ?)", (tx.now.ms,))
        last = tx.now
    ledger.close()
    fresh = Dial(boot_ms=10, wall_ms=wall_ms, boot_id="next boot")
    early = Ledger(where, fresh.clock(), 1)  # a command may come before ``prepare`` has stored the new offset
    assert early.clock.ledger() >= last
    early.close()
    ledger = found(where, fresh.clock())
    assert ledger.clock.ledger() >= last
    ledger.close()


def test_the_time_off_is_counted_where_the_wall_can_be_trusted_p11(tmp_path: Path) -> None:
    """What was to wait an hour is due after a night."""
    where, dial = place(tmp_path), Dial()
    ledger = found(where, dial.clock())
    last = ledger.clock.ledger()
    ledger.close()
    ledger = found(where, Dial(boot_ms=10, wall_ms=dial.wall_ms + 3_600_000, boot_id="next boot").clock())
    assert ledger.clock.ledger() - last == 3_600_000
    ledger.close()


def test_a_step_of_the_wall_clock_does_not_move_ledger_time_p11(tmp_path: Path) -> None:
    """Nor does preparing again in the same boot."""
    where, dial = place(tmp_path), Dial()
    ledger = found(where, dial.clock())
    before = ledger.clock.ledger()
    dial.wall_ms -= 86_400_000
    migrate(where, dial.clock())
    assert ledger.clock.ledger() == before
    other = Ledger(where, dial.clock(), 2)
    assert other.clock.ledger() == before
    other.close()
    ledger.close()


def test_a_ledger_keeps_its_incarnation_over_boots(tmp_path: Path) -> None:
    """Only a restore gives it another; two new ledgers have two."""
    where, dial = place(tmp_path), Dial()
    migrate(where, dial.clock())
    first = facts(where)[1]
    migrate(where, Dial(boot_ms=5, boot_id="next boot").clock())
    assert facts(where)[1:3] == (first, "next boot")
    (tmp_path / "other").mkdir()
    other = place(tmp_path / "other")
    migrate(other, dial.clock())
    assert facts(other)[1] != first
