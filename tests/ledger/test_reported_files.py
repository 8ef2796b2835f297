"""What others' database files suffered: damage after a power loss, rows that cannot be, files that only grow."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import apsw
import pytest

from appliance import errors
from appliance.cli import commands
from appliance.coordination.outcomes import Done
from appliance.site import config
from appliance.store import check, marker
from appliance.store.ledger import LEDGER, Ledger
from tests.ledger.box import Box, Dial, found, place
from tests.ledger.gathering import fold, fold_all, gather, parts

PAGE_BYTES = 4096


def raw(box: Box, sql: str) -> None:
    """A statement typed into another program, with every trigger switched off."""
    connection = apsw.Connection(str(box.ledger.place.state / LEDGER))
    connection.config(apsw.SQLITE_DBCONFIG_ENABLE_TRIGGER, 0)
    try:
        connection.execute(sql)
    finally:
        connection.close()


@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE job SET holder = NULL",
        "UPDATE job SET state = 'ready'",
        "UPDATE job SET due_ms = NULL",
        "UPDATE job SET attempt = NULL",
        "UPDATE job SET rank = 'soon'",
        "UPDATE job SET state = 'done', holder = NULL",
        "UPDATE job SET state = 'running'",
        "UPDATE job SET failures = failures_max + 1",
    ],
)
def test_a_row_that_no_query_would_ever_find_cannot_be_written(box: Box, sql: str) -> None:
    """A lease without a holder, a time that is null, a state that is none: the schema refuses, triggers or not."""
    box.lease()
    with pytest.raises(apsw.ConstraintError):
        raw(box, sql)


@pytest.mark.parametrize("page", [0, 3], ids=["header", "inner"])
def test_a_ledger_damaged_while_the_power_was_off_is_found_at_start_and_left_as_it_is(tmp_path: Path, page: int) -> None:
    """Nothing is written to it, and the sentence says what to keep and what to do."""
    where = place(tmp_path)
    ledger = found(where, Dial().clock())
    ledger.checkpoint()
    ledger.close()
    path = where.state / LEDGER
    whole = path.read_bytes()
    path.write_bytes(whole[: page * PAGE_BYTES] + b"\xa5" * PAGE_BYTES + whole[(page + 1) * PAGE_BYTES :])
    before = path.read_bytes()
    with pytest.raises(errors.LedgerDamagedError) as raised:
        check.check_if_unclean(where)
    assert "restore a backup" in raised.value.remedy
    assert path.read_bytes() == before


def test_a_start_after_a_clean_stop_looks_at_nothing_and_the_next_one_does(tmp_path: Path) -> None:
    """The marker counts once: a stop that was none of ours is looked into."""
    where = place(tmp_path)
    found(where, Dial().clock()).close()
    marker.put(where.state)
    assert not check.check_if_unclean(where)
    assert check.check_if_unclean(where)


def test_a_write_after_a_clean_stop_makes_the_next_start_look(tmp_path: Path) -> None:
    """A command may write while no appliance runs; from then on nobody knows how that ended."""
    where = place(tmp_path)
    found(where, Dial().clock()).close()
    marker.put(where.state)
    ledger = Ledger(where, Dial().clock(), 1)
    ledger.read("SELECT 1")
    assert (where.state / marker.MARKER).exists()
    with ledger.write():
        pass
    assert not (where.state / marker.MARKER).exists()
    ledger.close()


def test_p8_the_file_does_not_grow_with_what_was_deleted(box: Box) -> None:
    """The pages of parts that were folded carry the next ones: sixty parts of a hundred kilobytes in a file of a few."""
    gather(box, count=60, window=3)
    sizes = []
    for _ in range(20):
        for claimed in parts(box).values():
            assert box.hand_in(claimed, Done("x" * 100_000))
        assert fold_all(box, fold(box))
        box.ledger.checkpoint()
        sizes.append((box.ledger.place.state / LEDGER).stat().st_size)
    assert max(sizes[2:]) <= sizes[2] + 100_000


def test_status_says_which_engine_is_at_work(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Whoever judges a box from afar must know whether its engine is one that can damage a WAL."""
    found(place(tmp_path), Dial().clock()).close()
    state = tmp_path / "state"
    try:
        assert commands.dispatch(["--state", str(state), "status", "--json"]) == 1
    finally:
        shutil.rmtree(config.paths(config.environment(), state=state).runtime)
    view = json.loads(capsys.readouterr().out)
    assert view["engine"] == apsw.sqlite_lib_version()
    assert (view["storage"], view["running"]) == ("well", False)
