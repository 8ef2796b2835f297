"""The table of moves, the ledger that enforces it, and the page that shows it are one thing."""

from __future__ import annotations

import apsw

from appliance.coordination import states, triggers
from tests.house import pages


def test_the_ledger_holds_just_the_moves_of_the_table(ledger: apsw.Connection) -> None:
    """A move in one place only would be refused, or allowed, without anybody having said so."""
    told = {(noun, *map(str, cell)) for noun, moves in states.NOUNS.items() for move in moves for cell in move.cells()}
    stored = ledger.execute("SELECT noun, verb, was, became, actor, attempts, failures, starts FROM move").fetchall()
    assert {tuple(map(str, row)) for row in stored} == told
    assert len(stored) == len(told)


def test_the_ledger_holds_just_the_triggers_that_are_made_from_the_table(ledger: apsw.Connection) -> None:
    """One left over from an older table would go on refusing."""
    made = {sql for sql in triggers.statements() if sql.startswith("CREATE TRIGGER")}
    assert {sql for (sql,) in ledger.execute("SELECT sql FROM sqlite_schema WHERE type = 'trigger'")} == made


def test_every_state_of_a_job_can_be_entered_and_only_an_end_has_no_exit() -> None:
    """A state without an entry is dead text; a job in a state without an exit is stuck for ever."""
    cells = [cell for move in states.MOVES for cell in move.cells()]
    entered = {became for _, _, became, *_ in cells}
    left = {was for _, was, became, *_ in cells if was != became}
    assert entered == {*left - {""}, *states.ENDED}
    assert "done" not in left


def test_the_page_of_states_is_printed_from_the_table() -> None:
    """Print it anew with ``python -m tests.house.pages``."""
    assert pages.STATES.read_text(encoding="utf-8") == pages.states_page()


def test_a_changed_move_changes_the_page() -> None:
    """So a page of yesterday is seen."""
    assert all(move.verb in pages.states_page() and move.must in pages.states_page() for move in states.MOVES)
