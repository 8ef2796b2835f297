"""A batch of outcomes handed in at once: each lands, or is late, by itself."""

from __future__ import annotations

from appliance.coordination import handin
from appliance.coordination.handin import Released, Returned
from appliance.coordination.outcomes import Done, Follow, Reject
from tests.ledger.box import BERT, Box


def test_in_a_batch_each_job_that_is_done_lands_by_itself(box: Box) -> None:
    """One of them has another holder by now: it changes nothing, and the others are done."""
    first, late, third = (box.lease(work_id=name) for name in ("a", "b", "c"))
    box.hand_in(late, Released(cause="stopped", started=False))
    (now,) = box.claim(BERT)
    with box.ledger.write() as tx:
        batch = [Returned(claimed=each, outcome=Done(each.lease.id), started=tx.now) for each in (first, late, third)]
        landed = handin.hand_in_all(tx, batch)
    assert [each.claimed for each in landed] == [first, third]
    assert [box.job(each.lease.id) for each in (first, now, third)] == ["done", "leased", "done"]
    assert box.one("SELECT count(*) FROM result") == 2
    assert box.moves(now.lease.id)[-2:] == ["claim", "late"]


def test_a_job_of_which_two_attempts_are_handed_in_at_once_is_done_by_the_later(box: Box) -> None:
    """The worker that was late may be the one that has it again."""
    early = box.lease(work_id="a")
    box.hand_in(early, Released(cause="stopped", started=False))
    (again,) = box.claim()
    with box.ledger.write() as tx:
        batch = [Returned(claimed=each, outcome=Done(each.lease.fence), started=tx.now) for each in (early, again)]
        landed = handin.hand_in_all(tx, batch)
    assert [each.claimed for each in landed] == [again]
    assert box.one("SELECT value FROM result WHERE job_id = ?", again.lease.id) == "2"


def test_what_goes_with_a_done_job_goes_in_with_a_batch(box: Box) -> None:
    """Follow-ups of one that landed, beside an outcome of another sort."""
    done, bad = box.lease(work_id="a"), box.lease(work_id="b")
    with box.ledger.write() as tx:
        batch = [
            Returned(claimed=done, outcome=Done(1, then=[Follow(kind="noop", payload=1)]), started=tx.now),
            Returned(claimed=bad, outcome=Reject("not this"), started=tx.now),
        ]
        assert len(handin.hand_in_all(tx, batch)) == 2
    assert [box.job(each.lease.id) for each in (done, bad)] == ["done", "rejected"]
    assert box.one("SELECT count(*) FROM job WHERE parent_id = ?", done.lease.id) == 1
