"""``splits.sql``: one job in many parts, its storage bounded by the window."""

from __future__ import annotations

import pytest

from appliance import limits
from appliance.coordination import decisions, freeing, queue, splits
from appliance.coordination.freeing import Death
from appliance.coordination.handin import Released
from appliance.coordination.outcomes import Done, Outcome, Reject, Retry, Split, Unclear
from appliance.coordination.work import FilePlace
from tests.ledger.box import ANNA, BERT, WHO, Box
from tests.ledger.gathering import fold_all, gather, part, parts, placed, progress


def test_a_split_opens_no_more_parts_than_its_window_p8(box: Box) -> None:
    """The job gathers, nobody holds it, and the rest of its parts have no row yet."""
    id_ = gather(box, count=1_000, window=3)
    assert box.job(id_, "state, holder") == ("gathering", None)
    assert placed(box) == [0, 1, 2]
    assert progress(box, id_) == (1_000, 0, 0)
    assert box.moves(id_, "part") == ["open"] * 3


def test_a_window_wider_than_the_job_opens_all(box: Box) -> None:
    """And no more."""
    gather(box, count=2, window=9)
    assert placed(box) == [0, 1]


def test_a_part_has_the_payload_and_the_shared_files_of_its_job(box: Box) -> None:
    """Its fence is its own."""
    claimed = box.lease("film", payload="reel")
    shared = FilePlace(id=claimed.lease.id, attempt=1, ordinal=-1, part_attempt=0, name="plan", size_bytes=1, sha256="0" * 64)
    box.hand_in(claimed, Split(count=2, window=2), (shared,))
    first = parts(box)[0]
    assert (first.payload, first.files, first.params, first.lease.fence, first.lease.attempt) == ("reel", (shared,), {}, 1, 1)


def test_a_split_job_comes_to_its_result_p7(box: Box) -> None:
    """Every part once, in order; then the job is done and no part is left."""
    id_ = gather(box, count=7, window=3, state=[])
    for _ in range(40):
        for claimed in box.claim():
            if claimed.folding:
                end = Done(claimed.folding.carried) if claimed.folding.folded == 7 else None
                fold_all(box, claimed, end)
            else:
                box.hand_in(claimed, Done(claimed.lease.ordinal))
    assert box.job(id_, "state, attempt, failures") == ("done", 1, 0)
    assert box.ledger.read("SELECT value FROM result") == [("[0,1,2,3,4,5,6]",)]
    assert placed(box) == []
    assert box.one("SELECT state FROM split") == "done"
    assert box.moves(id_)[-1] == "fold"


@pytest.mark.parametrize(
    "outcome",
    [Done(2), Retry("x"), Reject("x"), Unclear("x"), Released(cause="x", started=True)],
    ids=lambda each: type(each).__name__,
)
def test_a_late_part_changes_nothing_p3(box: Box, outcome: Outcome | Released) -> None:
    """Whatever it says, in its row, its files, its split and its job."""
    id_ = gather(box)
    old = parts(box)[0]
    with box.ledger.write() as tx:
        freeing.free(tx, ANNA, Death(cause="killed", charged=False, lease=None), lambda _: 1, 0.5)
    new = part(box, 0, BERT)
    before = box.ledger.read("SELECT * FROM part"), box.job(id_, "*")
    file = FilePlace(id=id_, attempt=1, ordinal=0, part_attempt=1, name="f", size_bytes=1, sha256="0" * 64)
    assert not box.hand_in(old, outcome, (file,))
    assert (box.ledger.read("SELECT * FROM part"), box.job(id_, "*")) == before
    assert box.one("SELECT count(*) FROM file") == 0
    assert box.hand_in(new, Done(1))


def test_a_part_that_does_not_succeed_is_tried_again_and_then_dead(box: Box) -> None:
    """Its failures are its own; a planned one ripens."""
    gather(box, on_dead="fold")
    box.hand_in(part(box, 0), Retry("x"))
    assert box.one("SELECT state FROM part WHERE ordinal = 0") == "planned"
    box.dial.pass_ms(limits.BACKOFF_MS_MAX)
    with box.ledger.write() as tx:
        assert queue.ripen(tx) == 1
    box.hand_in(part(box, 0), Retry("x"))
    assert box.ledger.read("SELECT state, failures FROM part WHERE ordinal = 0") == [("dead", 2)]


def test_a_dead_part_counts_as_a_failure_of_its_job_where_the_split_says_so(box: Box) -> None:
    """The job starts over under a new attempt, and nothing of the old gathering is left."""
    id_ = gather(box)
    for _ in range(2):
        box.hand_in(part(box, 0), Retry("broken", after_ms=0))
    assert box.job(id_, "state, failures, error_class") == ("ready", 1, "part")
    assert [box.one(f"SELECT count(*) FROM {table}") for table in ("part", "split", "file")] == [0, 0, 0]  # noqa: S608 - named here


def test_a_dead_part_ends_a_job_that_was_asked_to_cancel(box: Box) -> None:
    """It does not start over."""
    id_ = gather(box)
    with box.ledger.write() as tx:
        decisions.cancel(tx, id_, WHO)
    for _ in range(2):
        box.hand_in(part(box, 0), Retry("broken", after_ms=0))
    assert box.job(id_) == "cancelled"
    assert placed(box) == []


@pytest.mark.parametrize("noun", ["part", "split"])
def test_work_started_too_often_without_an_outcome_ends_p13(box: Box, noun: str) -> None:
    """A part that kills its process each time is dead, and so is a fold; their job counts a failure."""
    id_ = gather(box)
    if noun == "split":
        box.hand_in(parts(box)[0], Done(0))
    for _ in range(limits.STARTS_WITHOUT_OUTCOME_MAX):
        for each in box.claim():
            killer = each.lease.noun == noun and not each.lease.ordinal
            box.hand_in(each, Released(cause="power", started=killer))
    assert box.job(id_, "state, failures, attempt") == ("ready", 1, 1)


def test_a_cancelled_gathering_is_ended_by_the_steward_with_its_parts(box: Box) -> None:
    """A late part of it finds no row."""
    id_ = gather(box)
    claimed = parts(box)[0]
    with box.ledger.write() as tx:
        assert splits.stop_asked(tx) == []
        decisions.cancel(tx, id_, WHO)
        assert splits.stop_asked(tx) == [id_]
        assert splits.stop_asked(tx) == []
    assert box.job(id_) == "cancelled"
    assert [box.one(f"SELECT count(*) FROM {table}") for table in ("part", "split")] == [0, 0]  # noqa: S608 - named here
    assert not box.hand_in(claimed, Done(1))


def test_parts_do_not_keep_better_ranked_jobs_waiting(box: Box) -> None:
    """A long split and an urgent job share the workers by rank."""
    gather(box, count=100, window=50)
    urgent = box.submit("noop", priority=5)
    assert [each.lease.id for each in box.claim(most=1)] == [urgent.id]
