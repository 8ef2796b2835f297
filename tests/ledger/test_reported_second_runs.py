"""Second runs and wrong winners, in the shapes that others reported: rescuers that come late, names that come again, age."""

from __future__ import annotations

import pytest

from appliance.coordination import freeing, queue
from appliance.coordination.freeing import Death
from appliance.coordination.handin import Released
from appliance.coordination.outcomes import Done, Outcome, Retry
from appliance.coordination.work import Holder, Lease
from tests.ledger.box import ANNA, BERT, Box, everything

QUARTER_MS = 91 * 86_400_000
TAKEN_FOR_DEAD = Death(cause="taken for dead", charged=False, lease=None)


def free(box: Box, holder: Holder) -> list[Lease]:
    """A rescuer frees what this holder holds, whatever it believes of it."""
    with box.ledger.write() as tx:
        return freeing.free(tx, holder, TAKEN_FOR_DEAD, lambda _: 100, 0.5)


@pytest.mark.parametrize("outcome", [Done(1), Retry("again", after_ms=5)], ids=["done", "planned"])
def test_p3_a_rescuer_that_comes_after_the_outcome_changes_nothing(box: Box, outcome: Outcome) -> None:
    """What it read a moment ago does not count: the statement asks for state and attempt as they stand."""
    claimed = box.lease()
    assert box.hand_in(claimed, outcome)
    before, moves = everything(box), box.moves(claimed.lease.id)
    assert free(box, ANNA) == []
    assert (everything(box), box.moves(claimed.lease.id)) == (before, moves)


def test_p3_a_rescuer_that_comes_twice_frees_once_and_not_the_next_holder(box: Box) -> None:
    """A stale request is about a dead holder, not about the job."""
    claimed = box.lease()
    assert free(box, ANNA) == [claimed.lease]
    (second,) = box.claim(BERT)
    assert free(box, ANNA) == []
    assert box.job(claimed.lease.id, "state, holder, attempt, failures") == ("leased", BERT, 2, 0)
    assert box.hand_in(second, Done(1))


@pytest.mark.parametrize("late", [Done(0), Retry("late"), Released(cause="late", started=True)], ids=["done", "retry", "release"])
def test_p3_an_earlier_attempt_of_the_same_holder_is_late_all_the_same(box: Box, late: Outcome | Released) -> None:
    """A worker's name is no fence: each claim has a number of its own."""
    first = box.lease(holder=ANNA)
    free(box, ANNA)
    (second,) = box.claim(ANNA)
    before = everything(box)
    assert second.lease.fence > first.lease.fence
    assert not box.hand_in(first, late)
    assert everything(box) == before
    assert box.hand_in(second, Done(1))
    assert box.ledger.read("SELECT attempt, value FROM result") == [(2, "1")]


def test_p5_no_age_takes_a_job_from_a_holder_that_lives(box: Box) -> None:
    """A quarter of a year at work, and nobody has renewed anything: it is still its holder's, and its outcome lands."""
    claimed = box.lease()
    for _ in range(QUARTER_MS // 3_600_000):
        box.dial.pass_ms(3_600_000)
        with box.ledger.write() as tx:
            assert queue.ripen(tx) == 0
    assert box.claim(BERT) == []
    assert box.job(claimed.lease.id, "state, holder, attempt") == ("leased", ANNA, 1)
    assert box.hand_in(claimed, Done(1))
    assert box.moves(claimed.lease.id) == ["submit", "claim", "finish"]


def test_p2_a_long_delay_is_no_lease_and_starts_nothing_twice(box: Box) -> None:
    """A job due in a quarter of a year is due once, then, and held without an end."""
    asked = box.submit(after_ms=QUARTER_MS)
    for _ in range(90):
        box.dial.pass_ms(86_400_000)
        with box.ledger.write() as tx:
            assert queue.ripen(tx) == 0
        assert box.claim() == []
    box.dial.pass_ms(86_400_000)
    with box.ledger.write() as tx:
        assert queue.ripen(tx) == 1
        assert queue.ripen(tx) == 0
    (claimed,) = box.claim()
    box.dial.pass_ms(QUARTER_MS)
    assert box.claim(BERT) == []
    assert box.hand_in(claimed, Done())
    assert box.moves(asked.id) == ["submit", "ripen", "claim", "finish"]


def test_no_count_of_what_is_at_work_is_kept_so_none_can_drift(box: Box) -> None:
    """How many are at work is read from the rows, after any number of deaths that were freed twice."""
    for number in range(5):
        box.submit(work_id=str(number))
    for _ in range(8):
        box.claim(ANNA, most=3)
        assert box.one("SELECT count(*) FROM job WHERE state = 'leased'") == 3
        free(box, ANNA)
        free(box, ANNA)
        assert box.one("SELECT count(*) FROM job WHERE state = 'leased'") == 0
