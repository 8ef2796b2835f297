"""The open ledger: what a transaction, a read and a checkpoint promise."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path

import apsw
import pytest

from appliance import errors, limits
from appliance.clock import Clock
from appliance.store.engine import require_engine
from appliance.store.ledger import LEDGER, Ledger, Transaction
from tests.ledger.box import Box, Dial, found, place
from tests.ledger.forked import forked

LANE = "INSERT INTO lane (lane, at_once_most) VALUES (?, 1)"
LANES = "SELECT count(*) FROM lane"
LONG = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"


def lane(ledger: Ledger, name: str) -> None:
    """One small transaction."""
    with ledger.write() as tx:
        tx.rows(LANE, (name,))


@pytest.mark.parametrize("version", ["3.7.0", "3.46.1", "3.51.2"])
def test_an_engine_with_the_reset_race_is_refused(version: str) -> None:
    """It can corrupt a WAL that several processes write."""
    with pytest.raises(errors.EngineTooOldError, match=version):
        require_engine(version)


@pytest.mark.parametrize("version", [None, "3.51.3", "3.54.1", "4.0.0"])
def test_an_engine_at_the_floor_or_above_is_taken(version: str | None) -> None:
    """That of this machine among them."""
    require_engine(version)


def test_a_connection_refuses_a_process_that_did_not_open_it(box: Box) -> None:
    """A child that was forked all the same can do nothing with it, and its parent goes on."""

    def trespass(tell: Callable[[str], None]) -> None:
        for act in (lambda: lane(box.ledger, "x"), lambda: box.ledger.read(LANES), box.ledger.checkpoint, box.ledger.close):
            try:
                act()
            except errors.ForeignConnectionError:
                tell("refused")

    with forked(trespass) as child:
        assert list(child.lines()) == ["refused"] * 4
    lane(box.ledger, "parent")
    assert box.one(LANES) == 1
    assert box.one("PRAGMA integrity_check") == "ok"


def test_a_place_without_a_ledger_is_said_so_and_left_as_it_is(tmp_path: Path) -> None:
    """Opening makes nothing."""
    where = place(tmp_path)
    with pytest.raises(errors.LedgerMissingError):
        Ledger(where, Dial().clock(), 1)
    assert list(where.state.iterdir()) == []


def test_a_file_that_is_no_ledger_is_said_so(tmp_path: Path) -> None:
    """By an error with a remedy, not by the engine's."""
    where = place(tmp_path)
    (where.state / LEDGER).write_bytes(b"not a database at all" * 1_000)
    with pytest.raises(errors.LedgerDamagedError):
        Ledger(where, Dial().clock(), 1)


@pytest.mark.parametrize(
    ("pragma", "value"), [("synchronous", 2), ("wal_autocheckpoint", 0), ("journal_mode", "wal"), ("foreign_keys", 1)]
)
def test_p1_every_connection_commits_with_a_sync(box: Box, pragma: str, value: object) -> None:
    """FULL, in the WAL, checkpoints as a step of their own."""
    assert box.one(f"PRAGMA {pragma}") == value


@pytest.mark.parametrize("stop", [ValueError, KeyboardInterrupt, SystemExit])
def test_a_transaction_that_raises_leaves_nothing(box: Box, stop: type[BaseException]) -> None:
    """Whatever was raised; and the next one begins."""
    with pytest.raises(stop), box.ledger.write() as tx:  # noqa: PT012 - the transaction is what must fail
        tx.rows(LANE, ("x",))
        raise stop
    lane(box.ledger, "y")
    assert box.ledger.read("SELECT lane FROM lane") == [("y",)]


def test_a_transaction_is_one_instant(box: Box) -> None:
    """Its rows say one time, however long it takes."""
    with box.ledger.write() as tx:
        before = tx.now
        box.dial.pass_ms(100)
        assert tx.now == before
    with box.ledger.write() as tx:
        assert tx.now - before == 100


def test_a_read_takes_no_more_rows_than_it_may(box: Box) -> None:
    """And leaves no statement open."""
    for name in "abc":
        lane(box.ledger, name)
    assert len(box.ledger.read("SELECT * FROM lane", rows_max=2)) == 2
    assert box.ledger.checkpoint()[0] == 0


def test_a_read_past_its_age_limit_is_ended(tmp_path: Path) -> None:
    """It would pin the WAL; the connection is as good as new afterwards."""
    ticks = itertools.count(0, limits.READ_MS_MAX // 2)
    ledger = found(place(tmp_path), Clock(boot_ms=lambda: next(ticks)))
    with pytest.raises(errors.ReadTooOldError):
        ledger.read(LONG)
    lane(ledger, "x")
    assert ledger.read(LANES) == [(1,)]
    assert ledger.checkpoint()[0] == 0
    ledger.close()


def test_a_write_is_not_ended_by_the_age_limit_of_reads(tmp_path: Path) -> None:
    """The limit is set for the read alone."""
    ticks = itertools.count(0, limits.READ_MS_MAX)
    ledger = found(place(tmp_path), Clock(boot_ms=lambda: next(ticks)))
    ledger.read(LANES)
    with ledger.write() as tx:
        rows = tx.rows(LONG.replace("FROM n)", "FROM n WHERE i < 200000)", 1))
    assert rows == [(200_000,)]
    ledger.close()


def test_the_wal_grows_until_the_checkpoint_and_is_empty_after_it(box: Box) -> None:
    """No commit does it on the side."""
    for n in range(40):
        lane(box.ledger, str(n))
    assert box.ledger.wal_bytes() > 100_000
    box.ledger.checkpoint()
    assert box.ledger.wal_bytes() == 0


def test_a_checkpoint_beside_a_standing_reader_does_what_it_can(box: Box) -> None:
    """It neither waits nor raises, and the reader's view stays; when it ends, the WAL is emptied."""
    lane(box.ledger, "before")
    reader = apsw.Connection(str(box.ledger.place.state / LEDGER))
    reader.execute("BEGIN")
    assert reader.execute(LANES).get == 1
    lane(box.ledger, "after")
    box.ledger.checkpoint()
    assert box.ledger.wal_bytes() > 0
    assert reader.execute(LANES).get == 1
    reader.execute("COMMIT")
    box.ledger.checkpoint()
    assert box.ledger.wal_bytes() == 0
    reader.close()


def test_a_wal_that_is_not_there_has_no_bytes(box: Box) -> None:
    """A stat that opens nothing."""
    box.ledger.checkpoint()
    (box.ledger.place.state / f"{LEDGER}-wal").rename(box.ledger.place.state / "aside")
    assert box.ledger.wal_bytes() == 0
    (box.ledger.place.state / "aside").rename(box.ledger.place.state / f"{LEDGER}-wal")


def second(box: Box) -> Ledger:
    """Another process's ledger of the same place."""
    return Ledger(box.ledger.place, box.dial.clock(), 2)


def test_failing_storage_is_latched_for_every_process_and_reads_go_on(box: Box) -> None:
    """Whoever saw it first says so to all."""
    other = second(box)
    other._page.latch_failing(box.dial.clock().boot())  # noqa: SLF001 - as a sync that raised does
    for ledger in (box.ledger, other):
        assert ledger.failing()
        with pytest.raises(errors.StorageFailingError):
            lane(ledger, "x")
        with pytest.raises(errors.StorageFailingError):
            ledger.checkpoint()
        assert ledger.read(LANES) == [(0,)]
    other.close()


def test_two_open_ledgers_see_each_other_s_commits(box: Box) -> None:
    """At once, and without a turn."""
    other = second(box)
    lane(other, "x")
    assert box.one(LANES) == 1
    other.close()


def test_a_transaction_inside_a_transaction_is_refused_and_the_outer_one_stands(box: Box) -> None:
    """The turn is not lost to the mistake: nobody else comes in between."""
    with box.ledger.write() as tx:
        tx.rows(LANE, ("x",))
        with pytest.raises(RuntimeError), box.ledger.write():
            pass
        assert box.ledger._page.held() is not None  # noqa: SLF001 - who is inside
    assert box.one(LANES) == 1


def test_the_rows_of_many_bindings_come_in_their_order(box: Box) -> None:
    """For batches."""

    def act(tx: Transaction) -> list[tuple[object, ...]]:
        return tx.each(f"{LANE} RETURNING lane", [(name,) for name in "cab"])

    with box.ledger.write() as tx:
        assert act(tx) == [("c",), ("a",), ("b",)]
        assert tx.row("SELECT 1 WHERE 0") is None


def test_a_ledger_that_is_just_being_made_is_none_yet(tmp_path: Path) -> None:
    """A command that comes while the first start works on it is told so, and not that we are at fault."""
    where = place(tmp_path)
    (where.state / LEDGER).touch()
    with pytest.raises(errors.LedgerMissingError, match="not made yet"):
        Ledger(where, Dial().clock(), 1)
