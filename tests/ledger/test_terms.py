"""``terms.sql``: one holder's tenure of a singleton, with a number that only grows."""

from __future__ import annotations

from pathlib import Path

import pytest

from appliance import errors
from appliance.coordination import terms
from tests.ledger.box import ANNA, BERT, Box


def test_a_term_s_number_grows_with_each_entry_p4(box: Box) -> None:
    """Each entry is an event."""
    with box.ledger.write() as tx:
        numbers = [terms.enter(tx, "steward", holder).number for holder in (ANNA, BERT, ANNA)]
    assert numbers == [1, 2, 3]
    assert box.ledger.read("SELECT move, attempt, holder, cause FROM event WHERE noun = 'term'") == [
        ("enter", 1, ANNA, "steward"),
        ("enter", 2, BERT, "steward"),
        ("enter", 3, ANNA, "steward"),
    ]


def test_an_earlier_holder_commits_nothing_any_more_p4(box: Box) -> None:
    """Also when it is the same process that came back."""
    with box.ledger.write() as tx:
        old = terms.enter(tx, "steward", ANNA)
        terms.require(tx, old)
    with box.ledger.write() as tx:
        new = terms.enter(tx, "steward", ANNA)
    with pytest.raises(errors.TermLostError), box.ledger.write() as tx:  # noqa: PT012 - the transaction is what must fail
        tx.rows("INSERT INTO lane (lane, at_once_most) VALUES ('x', 1)")
        terms.require(tx, old)
    assert box.one("SELECT count(*) FROM lane") == 0
    with box.ledger.write() as tx:
        terms.require(tx, new)


def test_terms_of_two_names_are_two_terms(box: Box) -> None:
    """One says nothing about the other."""
    with box.ledger.write() as tx:
        one, other = terms.enter(tx, "steward", ANNA), terms.enter(tx, "crawler", BERT)
        terms.require(tx, one)
        terms.require(tx, other)


@pytest.mark.parametrize("sql", ["UPDATE term SET number = number - 1", "UPDATE term SET number = number + 2", "DELETE FROM term"])
def test_a_term_s_number_cannot_be_set_by_hand_p4(box: Box, sql: str) -> None:
    """Nor can it begin anew."""
    with box.ledger.write() as tx:
        terms.enter(tx, "steward", ANNA)
    with pytest.raises(Exception, match="term"):
        box.type(sql)


def test_a_seat_has_one_taker(tmp_path: Path) -> None:
    """The next has it when the first resigns."""
    first, second = terms.Seat(tmp_path, "steward"), terms.Seat(tmp_path, "steward")
    assert first.try_take()
    assert not second.try_take()
    first.close()
    second.take()
    second.close()
