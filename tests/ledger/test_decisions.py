"""``decisions.sql``: what a person decides, each with who and why."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from appliance import errors, limits
from appliance.coordination import decisions
from appliance.coordination.decisions import Decided
from appliance.coordination.outcomes import Done, Reject, Retry, Split, Unclear
from appliance.coordination.splits import Step
from appliance.coordination.states import Actor
from appliance.coordination.work import JobId
from appliance.store.ledger import Transaction
from tests.ledger.box import WHO, Box

VERBS: dict[str, Callable[[Transaction, JobId], object]] = {
    "decide": lambda tx, id_: decisions.decide(tx, id_, "ready", WHO),
    "decide done": lambda tx, id_: decisions.decide(tx, id_, "done", WHO, 1),
    "correct": lambda tx, id_: decisions.correct(tx, id_, 1, WHO),
    "revive": lambda tx, id_: decisions.revive(tx, id_, WHO),
    "cancel": lambda tx, id_: decisions.cancel(tx, id_, WHO),
}


def standing(box: Box, state: str) -> JobId:
    """A job that stands in this state."""
    claimed = box.lease("once", work_id=state)
    match state:
        case "unclear":
            box.hand_in(claimed, Unclear("eh?"))
        case "rejected":
            box.hand_in(claimed, Reject("bad"))
        case "dead":
            box.hand_in(claimed, Retry("no"))
        case "done":
            box.hand_in(claimed, Done(1))
        case "cancelled":
            box.hand_in(claimed, Unclear("eh?"))
            with box.ledger.write() as tx:
                decisions.cancel(tx, claimed.lease.id, WHO)
        case _:
            assert state == "leased"
    return claimed.lease.id


@pytest.mark.parametrize("became", ["done", "rejected", "ready"])
def test_an_unclear_job_goes_where_a_person_says(box: Box, became: Decided) -> None:
    """With the answer as its result, where it is done."""
    id_ = standing(box, "unclear")
    with box.ledger.write() as tx:
        decisions.decide(tx, id_, became, WHO, {"answer": 1})
    assert box.job(id_, "state, actor, cause, ended_ms IS NOT NULL") == (became, "person", "p: because", int(became != "ready"))
    assert box.one("SELECT value FROM result") == ('{"answer":1}' if became == "done" else None)


def test_a_decision_that_lets_a_job_go_on_asks_whether_it_may_start(box: Box) -> None:
    """With a prerequisite that is not done it is blocked."""
    id_ = standing(box, "unclear")
    box.type("INSERT INTO edge (job_id, needs_id, when_dead) VALUES (?, 999, 'block')", id_)
    with box.ledger.write() as tx:
        decisions.decide(tx, id_, "ready", WHO)
    assert box.job(id_) == "blocked"


def test_a_rejected_job_is_corrected_with_another_payload(box: Box) -> None:
    """And starts over with its counts at zero, its fence grown."""
    id_ = standing(box, "rejected")
    with box.ledger.write() as tx:
        decisions.correct(tx, id_, {"now": "good"}, WHO)
    assert box.job(id_, "state, failures, error_class, ended_ms") == ("ready", 0, None, None)
    (claimed,) = box.claim()
    assert (claimed.payload, claimed.lease.fence) == ({"now": "good"}, 2)


def test_a_dead_job_is_revived_with_its_failures_given_back(box: Box) -> None:
    """It may use them up again."""
    id_ = standing(box, "dead")
    with box.ledger.write() as tx:
        decisions.revive(tx, id_, WHO)
    assert box.job(id_, "state, failures, ended_ms") == ("ready", 0, None)


def test_a_job_that_nobody_works_on_is_cancelled_at_once(box: Box) -> None:
    """Planned, ready and unclear alike."""
    unclear = standing(box, "unclear")
    for asked in (box.submit(work_id="a").id, box.submit(work_id="b", after_ms=9).id, unclear):
        with box.ledger.write() as tx:
            assert decisions.cancel(tx, asked, WHO) == "cancelled"
        assert box.job(asked) == "cancelled"
    assert box.claim() == []


def test_a_job_at_work_is_asked_and_the_first_time_stands(box: Box) -> None:
    """Asking again is its own event."""
    id_ = standing(box, "leased")
    with box.ledger.write() as tx:
        assert decisions.cancel(tx, id_, WHO, Actor.CLIENT) == "asked"
    first = box.job(id_, "cancel_asked_ms")
    box.dial.pass_ms(50)
    with box.ledger.write() as tx:
        decisions.cancel(tx, id_, WHO)
    assert box.job(id_, "state, cancel_asked_ms") == ("leased", first)
    assert box.moves(id_)[-2:] == ["ask", "ask"]


@pytest.mark.parametrize("end", [Unclear("eh?"), Reject("bad")], ids=["decide", "correct"])
def test_a_second_chance_forgets_that_somebody_asked_to_cancel(box: Box, end: Unclear | Reject) -> None:
    """A fold gave its job up after the ask; the person who lets it go on knows, and its next retry must not end it."""
    claimed = box.lease("film")
    box.hand_in(claimed, Split(count=1, window=1))
    box.hand_in(box.claim()[0], Done(1))
    with box.ledger.write() as tx:
        decisions.cancel(tx, claimed.lease.id, WHO)
    box.hand_in(box.claim()[0], Step(folded=0, carried=None, output_bytes=0, end=end))
    assert box.job(claimed.lease.id, "cancel_asked_ms") is not None
    with box.ledger.write() as tx:
        VERBS["decide" if isinstance(end, Unclear) else "correct"](tx, claimed.lease.id)
    assert box.job(claimed.lease.id, "state, cancel_asked_ms") == ("ready", None)


ALLOWED = {("decide", "unclear"), ("decide done", "unclear"), ("correct", "rejected"), ("revive", "dead")} | {
    ("cancel", state) for state in ("unclear", "leased")
}


@pytest.mark.parametrize("state", ["leased", "unclear", "rejected", "dead", "done", "cancelled"])
@pytest.mark.parametrize("verb", list(VERBS))
def test_a_decision_that_does_not_lead_on_is_refused_whole(box: Box, verb: str, state: str) -> None:
    """Nothing of the transaction remains, and the sentence says where the job stands."""
    id_ = standing(box, state)
    before = box.job(id_, "*"), box.ledger.read("SELECT * FROM result")
    if (verb, state) in ALLOWED:
        with box.ledger.write() as tx:
            VERBS[verb](tx, id_)
        assert box.job(id_, "*") != before[0]
        return
    with pytest.raises(errors.MoveRefusedError, match=state), box.ledger.write() as tx:
        VERBS[verb](tx, id_)
    assert (box.job(id_, "*"), box.ledger.read("SELECT * FROM result")) == before


@pytest.mark.parametrize("verb", list(VERBS))
def test_a_job_that_is_not_there_is_said_so(box: Box, verb: str) -> None:
    """By its own error."""
    with pytest.raises(errors.NoSuchJobError), box.ledger.write() as tx:
        VERBS[verb](tx, JobId(9))


def test_a_correction_over_the_limit_is_refused(box: Box) -> None:
    """A payload has its bounds whoever gives it."""
    id_ = standing(box, "rejected")
    with pytest.raises(errors.PayloadError), box.ledger.write() as tx:
        decisions.correct(tx, id_, "x" * limits.PAYLOAD_BYTES_MAX, WHO)
    assert box.job(id_) == "rejected"
