"""``triggers.sql``: the ledger refuses whatever is not a move of the state table, also when it is typed by hand."""

from __future__ import annotations

import apsw
import pytest

from appliance.coordination import states
from appliance.coordination.outcomes import Done, Split
from appliance.coordination.states import Move
from tests.ledger.box import ANNA, Box

READY = "UPDATE job SET moves = moves + 1, moved_ms = 0, "


def refused(box: Box, sql: str, *bound: object) -> str:
    """The reason why a statement was refused; it left nothing."""
    tables = ("job", "result", "part", "split", "event")
    before = [box.ledger.read(f"SELECT * FROM {table}") for table in tables]  # noqa: S608 - named above
    with pytest.raises(apsw.ConstraintError) as reason:
        box.type(sql, *bound)
    assert [box.ledger.read(f"SELECT * FROM {table}") for table in tables] == before  # noqa: S608 - named above
    return str(reason.value)


@pytest.mark.parametrize(
    "sets",
    [
        "state = 'done'",
        "state = 'dead'",
        "attempt = 5",
        "attempt = attempt - 1",
        "failures = 0, starts = 1",
        "failures = 1",
        "starts = 1",
        "holder = 'me'",
        "holder = NULL",
        "move = 'finish'",
        "actor = 'person'",
        "cause = 'x'",
        "moves = 1",
        "moves = moves + 2",
        "moved_ms = 0",
        "cancel_asked_ms = 1",
        "ended_ms = 1",
    ],
)
def test_a_job_changes_by_a_move_alone(box: Box, sets: str) -> None:
    """A column set by hand is refused, whichever it is."""
    box.lease()
    refused(box, f"UPDATE job SET {sets}")  # noqa: S608 - the parameters above


@pytest.mark.parametrize("column", ["id", "kind", "work_id", "version", "round", "failures_max", "submitted_ms", "parent_id"])
def test_what_a_job_is_does_not_change_p2(box: Box, column: str) -> None:
    """Its identity least of all."""
    box.submit()
    assert "identity" in refused(box, f"UPDATE job SET {column} = 77")  # noqa: S608 - the parameters above


def test_a_payload_changes_by_correct_alone(box: Box) -> None:
    """Not under the hands of its holder."""
    box.lease()
    assert "correct" in refused(box, "UPDATE job SET payload = '1'")


@pytest.mark.parametrize(
    ("sets", "why"),
    [
        ("state = 'done', holder = NULL, ended_ms = 1, move = 'finish', actor = 'holder'", "no result"),
        ("state = 'done', holder = NULL, ended_ms = 1, move = 'finish', actor = 'person'", "not a move"),
        ("state = 'gathering', holder = NULL, move = 'split', actor = 'holder'", "no split row"),
        ("state = 'cancelled', holder = NULL, ended_ms = 1, move = 'stop', actor = 'holder'", "nobody asked"),
        ("state = 'dead', holder = NULL, ended_ms = 1, failures = 1, move = 'bury', actor = 'steward'", "not used up"),
        ("state = 'ready', holder = NULL, move = 'retry', actor = 'holder'", "not a move"),
        ("state = 'ready', holder = NULL, failures = 2, move = 'retry', actor = 'holder'", "not a move"),
        ("state = 'ready', holder = NULL, attempt = 0, move = 'release', actor = 'holder'", "not a move"),
        ("holder = 'b', move = 'claim', actor = 'worker', attempt = attempt + 1", "not a move"),
        ("cancel_asked_ms = 1, move = 'ask', actor = 'person'", "not said"),
    ],
)
def test_a_move_typed_by_hand_keeps_every_rule(box: Box, sets: str, why: str) -> None:
    """Who, from where, to where, the counts, and what must exist."""
    box.lease()
    assert why in refused(box, f"{READY}{sets}")


def test_an_entry_to_ready_asks_may_start(box: Box) -> None:
    """By whatever move, a job with an open prerequisite does not become ready."""
    asked = box.submit(after_ms=5)
    box.type("INSERT INTO edge (job_id, needs_id, when_dead) VALUES (?, 9, 'block')", asked.id)
    assert "may not start" in refused(box, f"{READY}state = 'ready', move = 'ripen', actor = 'worker'")


def test_a_job_does_not_enter_in_the_middle(box: Box) -> None:
    """Only by submit, with all counts at zero."""
    insert = """INSERT INTO job (kind, work_id, version, state, rank, due_ms, schema, payload, failures_max, submitted_ms, move,
        actor, moved_ms, attempt, holder) VALUES ('noop', 'x', 1, ?, 0, 0, 1, '1', 3, 0, 'submit', 'client', 0, ?, ?)"""
    assert "not an entry" in refused(box, insert, "leased", 1, ANNA)
    assert "not an entry" in refused(box, insert, "leased", 0, ANNA)
    assert "not an entry" in refused(box, insert, "ready", 4, None)


def test_a_live_job_is_neither_deleted_nor_replaced(box: Box) -> None:
    """Replacing is deleting."""
    box.lease(work_id="x")
    assert "live job" in refused(box, "DELETE FROM job")
    replaced = """INSERT OR REPLACE INTO job (kind, work_id, version, state, rank, due_ms, schema, payload, failures_max,
        submitted_ms, move, actor, moved_ms) VALUES ('noop', 'x', 1, 'ready', 0, 0, 1, '1', 3, 0, 'submit', 'client', 0)"""
    assert "live job" in refused(box, replaced)


def test_a_result_is_committed_once_p2(box: Box) -> None:
    """Neither changed nor replaced nor taken away, nor given to an attempt that does not stand."""
    claimed = box.lease()
    insert = "INSERT OR REPLACE INTO result (job_id, attempt, value, sha256, at_ms) VALUES (?, ?, '2', '', 0)"
    assert "attempt that stands" in refused(box, insert, claimed.lease.id, 2)
    box.hand_in(claimed, Done(1))
    assert "attempt that stands" in refused(box, insert, claimed.lease.id, 1)
    assert "committed once" in refused(box, "UPDATE result SET value = '2'")
    assert "stays" in refused(box, "DELETE FROM result")


def test_history_is_not_rewritten(box: Box) -> None:
    """It is pruned from its old end only, which is no rewriting."""
    box.submit()
    assert "not rewritten" in refused(box, "UPDATE event SET actor = 'x'")


@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE part SET state = 'done', result = '1'",
        "UPDATE part SET result = '1'",
        "UPDATE part SET attempt = 9",
        "UPDATE part SET ordinal = 9 WHERE ordinal = 0",
        "DELETE FROM part",
        "UPDATE split SET folded = 1",
        "UPDATE split SET carried = '1'",
        "UPDATE split SET fence = 5",
        "UPDATE split SET output_bytes = 5",
        "UPDATE split SET opened = 9",
        "UPDATE split SET width = 9",
        "UPDATE split SET when_dead = 'fold'",
        "UPDATE split SET failures_max = 9",
        "UPDATE part SET failures_max = 9",
        "DELETE FROM split",
        "UPDATE split SET state = 'ready', move = 'offer', moves = moves + 1, actor = 'person'",
    ],
)
def test_parts_and_folds_change_by_their_moves_alone(box: Box, sql: str) -> None:
    """As jobs do."""
    box.hand_in(box.lease("film"), Split(count=5, window=2))
    refused(box, sql)


def cells() -> list[tuple[str, Move]]:
    """All verbs of all nouns."""
    return [(noun, move) for noun, moves in states.NOUNS.items() for move in moves]


@pytest.mark.parametrize(("noun", "move"), cells(), ids=lambda value: value if isinstance(value, str) else value.verb)
def test_the_move_table_holds_each_verb_for_its_actors_alone(box: Box, noun: str, move: Move) -> None:
    """The ledger's copy, which the triggers ask, is that of the state table."""
    found = box.ledger.read(
        "SELECT verb, was, became, actor, attempts, failures, starts FROM move WHERE noun = ? AND verb = ?", (noun, move.verb)
    )
    assert set(found) == set(move.cells())
