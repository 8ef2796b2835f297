"""``splits.sql``: the parts are folded strictly in order, under a fence of their own."""

from __future__ import annotations

import pytest

from appliance import errors, limits
from appliance.coordination import freeing, splits
from appliance.coordination.freeing import Death
from appliance.coordination.handin import Released
from appliance.coordination.outcomes import Done, Folded, Outcome, Redo, Reject, Retry, Split, Unclear
from appliance.coordination.splits import Step
from appliance.coordination.work import FilePlace
from tests.ledger.box import ANNA, Box
from tests.ledger.gathering import fold, fold_all, gather, part, parts, placed


def test_parts_finish_in_any_order_and_the_fold_waits_for_the_first_p7(box: Box) -> None:
    """With the second done, nothing can be folded; with the first, both can."""
    gather(box)
    open_ones = parts(box)
    box.hand_in(open_ones[1], Done("b"))
    assert box.claim() == []
    box.hand_in(open_ones[0], Done("a"))
    claimed = fold(box)
    assert claimed.folding
    assert [(each.ordinal, each.result) for each in claimed.folding.answers] == [(0, "a"), (1, "b")]


def test_the_fold_is_offered_nothing_beyond_a_gap_p7(box: Box) -> None:
    """After the first it waits for the second, even if the third is there."""
    gather(box, count=5, window=3)
    open_ones = parts(box)
    for ordinal in (0, 2):
        box.hand_in(open_ones[ordinal], Done(ordinal))
    claimed = fold(box)
    assert claimed.folding
    assert [each.ordinal for each in claimed.folding.answers] == [0]
    fold_all(box, claimed)
    assert box.one("SELECT state FROM split") == "waiting"
    box.hand_in(open_ones[1], Done(1))
    claimed = fold(box)
    assert claimed.folding
    assert [each.ordinal for each in claimed.folding.answers] == [1, 2]


def test_a_step_forgets_what_it_folded_and_opens_what_the_window_lets_in_p8(box: Box) -> None:
    """Rows and files of the folded parts go in the transaction that folded them."""
    gather(box, count=5, window=2)
    for ordinal, claimed in parts(box).items():
        file = FilePlace(id=claimed.lease.id, attempt=1, ordinal=ordinal, part_attempt=1, name="f", size_bytes=1, sha256="0" * 64)
        box.hand_in(claimed, Done(ordinal), (file,))
    assert box.one("SELECT count(*) FROM file") == 2
    fold_all(box, fold(box))
    assert placed(box) == [2, 3]
    assert box.one("SELECT count(*) FROM file") == 0
    assert box.ledger.read("SELECT folded, opened, carried, output_fence, output_bytes FROM split") == [(2, 4, "[0,1]", 1, 2)]


def test_a_fold_cannot_end_before_its_last_part_p7(box: Box) -> None:
    """A step or an end that passes over a part without an answer is refused whole, as a late one is."""
    id_ = gather(box, count=2, window=2)
    box.hand_in(parts(box)[0], Done(0))
    claimed = fold(box)
    assert not box.hand_in(claimed, Step(folded=2, carried=None, output_bytes=0, end=Done("early")))
    assert not box.hand_in(claimed, Step(folded=2, carried=None, output_bytes=0))
    assert box.job(id_) == "gathering"
    assert placed(box) == [0, 1]
    assert box.one("SELECT count(*) FROM result") == 0


def test_a_late_fold_changes_nothing_p3(box: Box) -> None:
    """Another holder folds under a higher fence."""
    gather(box, count=2, window=2)
    for claimed in parts(box).values():
        box.hand_in(claimed, Done(1))
    old = fold(box)
    with box.ledger.write() as tx:
        freeing.free(tx, ANNA, Death(cause="killed", charged=False, lease=None), lambda _: 1, 0.5)
    new = fold(box)
    assert (old.lease.fence, new.lease.fence) == (1, 2)
    before = box.ledger.read("SELECT * FROM split"), box.ledger.read("SELECT * FROM part")
    ends: list[Step | Released | Outcome] = [
        Step(folded=2, carried="x", output_bytes=9),
        Step(folded=2, carried="x", output_bytes=9, end=Done("x")),
        Step(folded=0, carried="x", output_bytes=9, redo=(0, 1, Redo({"x": 1}))),
        Step(folded=0, carried="x", output_bytes=9, end=Retry("x")),
        Step(folded=0, carried="x", output_bytes=9, end=Reject("x")),
        Step(folded=0, carried="x", output_bytes=9, end=Unclear("x")),
        Released(cause="x", started=True),
        Retry("x"),
    ]
    assert not any(box.hand_in(old, end) for end in ends)
    assert (box.ledger.read("SELECT * FROM split"), box.ledger.read("SELECT * FROM part")) == before
    assert fold_all(box, new)


def test_a_redo_measures_the_part_again_with_new_params(box: Box) -> None:
    """Its files go, its fence grows, and the fold waits for it."""
    gather(box)
    first = parts(box)[0]
    file = FilePlace(id=first.lease.id, attempt=1, ordinal=0, part_attempt=1, name="f", size_bytes=1, sha256="0" * 64)
    box.hand_in(first, Done(0), (file,))
    box.hand_in(fold(box), Step(folded=0, carried=None, output_bytes=0, redo=(0, 1, Redo({"run_in": 9}))))
    assert box.one("SELECT state FROM split") == "waiting"
    assert box.one("SELECT count(*) FROM file") == 0
    again = part(box, 0)
    assert (again.params, again.lease.fence) == ({"run_in": 9}, 2)
    box.hand_in(again, Done(1))
    assert fold(box).folding


def test_a_part_is_not_measured_again_without_end_p13(box: Box) -> None:
    """A fold that is content with nothing becomes a question to a person."""
    id_ = gather(box)
    for attempt in range(1, limits.PART_ATTEMPTS_MOST + 1):
        assert box.job(id_) == "gathering"
        assert box.hand_in(part(box, 0), Done(0))
        claimed = fold(box)
        assert box.hand_in(claimed, Step(folded=0, carried=None, output_bytes=0, redo=(0, attempt, Redo({"x": attempt}))))
    assert box.job(id_, "state, error_class") == ("unclear", "unclear")


def test_a_dead_part_is_not_measured_again_p13(box: Box) -> None:
    """Its failures are used up: the fold may take it as missing, or give up."""
    id_ = gather(box, on_dead="fold")
    for _ in range(2):
        box.hand_in(part(box, 0), Retry("broken", after_ms=0))
    assert box.hand_in(fold(box), Step(folded=0, carried=None, output_bytes=0, redo=(0, 2, Redo({"x": 1}))))
    assert box.job(id_) == "unclear"


def test_a_dead_part_is_folded_as_missing_where_the_split_says_so(box: Box) -> None:
    """The fold sees its error in its place."""
    gather(box, on_dead="fold")
    for _ in range(2):
        box.hand_in(part(box, 0), Retry("broken", after_ms=0, error_class="decoder"))
    claimed = fold(box)
    assert claimed.folding
    (answer,) = claimed.folding.answers
    assert (answer.ordinal, answer.dead, answer.result, answer.error) == (0, True, None, "decoder: broken")


def test_the_failures_of_a_fold_end_at_the_limit_p13(box: Box) -> None:
    """Then its job counts one, and starts over."""
    id_ = gather(box)
    box.hand_in(parts(box)[0], Done(0))
    for _ in range(2):
        box.hand_in(fold(box), Step(folded=0, carried=None, output_bytes=0, end=Retry("x", error_class="io")))
    assert box.job(id_, "state, failures, error_text") == ("ready", 1, "io: x")


@pytest.mark.parametrize(("end", "state"), [(Reject("bad"), "rejected"), (Unclear("eh?"), "unclear")])
def test_a_fold_and_a_part_may_give_their_job_up(box: Box, end: Reject | Unclear, state: str) -> None:
    """The job ends with the reason, its parts with it."""
    id_ = gather(box)
    box.hand_in(parts(box)[0], Done(0))
    box.hand_in(fold(box), Step(folded=0, carried=None, output_bytes=0, end=end))
    other = box.lease("film", work_id="other")
    box.hand_in(other, Split(count=2, window=2))
    box.hand_in(parts(box)[0], end)
    assert (box.job(id_), box.job(other.lease.id)) == (state, state)
    assert placed(box) == []


def test_the_death_of_a_holder_charges_a_part_and_gives_back_its_fold_p5(box: Box) -> None:
    """One transaction frees jobs, parts and folds alike."""
    gather(box)
    first, second = parts(box).values()
    box.hand_in(first, Done(0))
    folding = fold(box)
    with box.ledger.write() as tx:
        freed = freeing.free(tx, ANNA, Death(cause="killed", charged=True, lease=second.lease), lambda _: 1, 0.5)
    assert set(freed) == {second.lease, folding.lease}
    assert box.ledger.read("SELECT state, failures FROM part WHERE ordinal = 1") == [("ready", 1)]
    assert box.ledger.read("SELECT state, failures FROM split") == [("ready", 0)]


def test_a_fold_is_claimed_before_more_parts(box: Box) -> None:
    """It is what makes room in the window."""
    gather(box)
    box.hand_in(part(box, 0), Done(0))
    box.submit("noop", priority=9)
    assert [each.lease.noun for each in box.claim(most=1)] == ["split"]


def test_a_folded_state_over_its_bound_is_refused(box: Box) -> None:
    """What a fold carries does not grow without end."""
    gather(box)
    box.hand_in(parts(box)[0], Done(0))
    claimed = fold(box)
    with pytest.raises(errors.PayloadError):
        box.hand_in(claimed, Step(folded=1, carried="x" * splits.CARRIED_BYTES_MAX, output_bytes=0, end=Folded(None)))
    assert fold_all(box, claimed)
