"""``queue.sql``: work comes in, becomes due, and is claimed."""

from __future__ import annotations

import pytest

from appliance import errors, limits
from appliance.coordination import kinds, queue
from appliance.coordination.outcomes import Done, Retry, Snooze
from appliance.coordination.work import JobId, Submission
from tests.ledger.box import ANNA, BERT, KINDS, Box


def test_a_submission_stands_as_ready(box: Box) -> None:
    """New work that is due is ready, with one event and nothing counted."""
    answer = box.submit(payload={"a": 1}, work_id="one", source="test", correlation="c")
    assert (answer.state, answer.new) == ("ready", True)
    assert box.job(answer.id, "kind, work_id, version, round, attempt, failures, starts, moves, payload") == (
        "noop", "one", 1, 0, 0, 0, 0, 1, '{"a":1}',
    )  # fmt: skip
    assert box.moves(answer.id) == ["submit"]


def test_the_same_work_asked_for_twice_is_one_job_p2(box: Box) -> None:
    """The answer is the job that stands for it, with its state."""
    first = box.submit(work_id="one")
    box.hand_in(box.claim()[0], Done())
    again = box.submit(work_id="one")
    assert (again.id, again.state, again.new) == (first.id, "done", False)
    assert box.moves(first.id) == ["submit", "claim", "finish"]


def test_work_without_an_id_is_named_by_its_payload(box: Box) -> None:
    """Equal payloads are equal work, however their keys were ordered."""
    first, second = box.submit(payload={"a": 1, "b": 2}), box.submit(payload={"b": 2, "a": 1})
    assert first.id == second.id
    assert box.submit(payload={"a": 2}).new


def test_the_same_work_twice_in_one_batch_is_one_job_p2(box: Box) -> None:
    """Also before the transaction ends."""
    with box.ledger.write() as tx:
        one, two = queue.submit(tx, [Submission(kind="noop", work_id="x"), Submission(kind="noop", work_id="x")])
    assert (one.id, one.new, two.new) == (two.id, True, False)


def test_again_asks_for_a_further_round(box: Box) -> None:
    """Each one is a job of its own."""
    first = box.submit(work_id="one")
    second = box.submit(work_id="one", again=True)
    third = box.submit(work_id="one", again=True)
    assert [box.job(each.id, "round") for each in (first, second, third)] == [0, 1, 2]
    assert box.submit(work_id="one").id == third.id


def test_a_version_asked_for_is_part_of_the_identity(box: Box) -> None:
    """Another version is other work; without one the newest answers."""
    first, second = box.submit(work_id="one"), box.submit(work_id="one", version=7)
    assert second.new
    assert box.submit(work_id="one", version=1).id == first.id
    assert box.submit(work_id="one").id == second.id


def test_work_of_the_past_is_still_known_p2(box: Box) -> None:
    """Retention took the job, its identity stands in the narrow row."""
    asked = box.submit(work_id="one")
    box.hand_in(box.claim()[0], Done())
    box.type("INSERT INTO past SELECT kind, work_id, version, round, id, state, NULL FROM job WHERE id = ?", asked.id)
    box.type("DELETE FROM job WHERE id = ?", asked.id)
    answer = box.submit(work_id="one")
    assert (answer.id, answer.state, answer.new) == (asked.id, "done", False)


def test_a_further_round_counts_on_from_the_past_p2(box: Box) -> None:
    """One identity never comes into being twice, also when retention took the first."""
    asked = box.submit(work_id="one")
    box.hand_in(box.claim()[0], Done())
    box.type("INSERT INTO past SELECT kind, work_id, version, round, id, state, NULL FROM job WHERE id = ?", asked.id)
    box.type("DELETE FROM job WHERE id = ?", asked.id)
    answer = box.submit(work_id="one", again=True)
    assert answer.new
    assert box.job(answer.id, "round") == 1


def test_a_kind_that_nobody_declared_is_refused(box: Box) -> None:
    """And nothing of its batch is taken in."""
    with pytest.raises(errors.UnknownKindError), box.ledger.write() as tx:
        queue.submit(tx, [Submission(kind="noop", work_id="x"), Submission(kind="nobody")])
    assert box.one("SELECT count(*) FROM job") == 0


def test_work_due_later_is_planned_until_its_time(box: Box) -> None:
    """It is not in the claim's way, and ripens when it is due, once."""
    asked = box.submit(after_ms=500)
    assert (asked.state, box.claim()) == ("planned", [])
    box.dial.pass_ms(499)
    with box.ledger.write() as tx:
        assert queue.ripen(tx) == 0
    box.dial.pass_ms(1)
    with box.ledger.write() as tx:
        assert (queue.ripen(tx), queue.ripen(tx)) == (1, 0)
    assert box.job(asked.id) == "ready"
    assert box.moves(asked.id) == ["submit", "ripen"]


def test_what_ripens_and_may_not_start_is_blocked(box: Box) -> None:
    """Its prerequisite is not done; once it is, unblock lets it go."""
    asked = box.submit(after_ms=1)
    box.type("INSERT INTO edge (job_id, needs_id, when_dead) VALUES (?, 999, 'block')", asked.id)
    box.dial.pass_ms(1)
    with box.ledger.write() as tx:
        queue.ripen(tx)
    assert box.job(asked.id) == "blocked"
    bound = {"id": asked.id, "actor": "steward", "now": 0}
    assert box.ledger.read(queue.SQL["unblock"], bound) == []
    box.type("UPDATE edge SET met = 1")
    assert box.ledger.read(queue.SQL["unblock"], bound) == [(asked.id,)]
    assert box.job(asked.id) == "ready"


def test_a_transaction_ripens_no_more_than_its_bound(box: Box) -> None:
    """The rest is due in the next."""
    with box.ledger.write() as tx:
        queue.submit(tx, [Submission(kind="noop", work_id=str(n), after_ms=1) for n in range(limits.RIPEN_MOST + 1)])
    box.dial.pass_ms(10)
    with box.ledger.write() as tx:
        assert queue.ripen(tx) == limits.RIPEN_MOST
    with box.ledger.write() as tx:
        assert queue.ripen(tx) == 1


def test_a_claim_raises_the_fence_and_names_the_holder(box: Box) -> None:
    """Both are durable before any handler starts."""
    asked = box.submit(payload=[1])
    (claimed,) = box.claim(ANNA)
    assert (claimed.lease.id, claimed.lease.attempt, claimed.lease.fence, claimed.payload) == (asked.id, 1, 1, [1])
    assert box.job(asked.id, "state, holder, attempt") == ("leased", ANNA, 1)
    assert box.claim(BERT) == []


def test_the_best_rank_is_claimed_first(box: Box) -> None:
    """Priority is a head start, so what waits long enough is overtaken by nobody."""
    old = box.submit(work_id="old")
    box.dial.pass_ms(limits.HEAD_START_MS - 1)
    urgent = box.submit(work_id="urgent", priority=1)
    box.dial.pass_ms(2)
    late = box.submit(work_id="late", priority=1)
    assert [each.lease.id for each in box.claim()] == [urgent.id, old.id, late.id]


def test_a_claim_takes_no_more_than_it_asked_for(box: Box) -> None:
    """Over all kinds together."""
    for n in range(3):
        box.submit("noop", work_id=str(n))
        box.submit("film", work_id=str(n))
    assert [len(box.claim(most=most)) for most in (2, 3, 9)] == [2, 3, 1]


def test_a_worker_claims_only_what_it_can_do(box: Box) -> None:
    """Kind, version and schema must all be its own."""
    box.submit("noop", version=2)
    assert box.claim() == []
    box.reads = '[["noop",2,2]]'
    assert box.claim() == []
    box.reads = '[["noop",2,1]]'
    assert len(box.claim()) == 1


def test_a_kind_named_twice_is_claimed_once(box: Box) -> None:
    """A worker that lists a kind twice gets no job twice."""
    asked = box.submit()
    box.reads = kinds.reads([*KINDS, *KINDS])
    assert [each.lease.id for each in box.claim()] == [asked.id]


def test_waits_looks_without_a_turn(box: Box) -> None:
    """For ready work of the worker's kinds, and for what has become due."""
    assert not queue.waits(box.ledger, box.reads)
    box.submit(after_ms=5)
    assert not queue.waits(box.ledger, box.reads)
    box.dial.pass_ms(5)
    assert queue.waits(box.ledger, box.reads)
    with box.ledger.write() as tx:
        queue.ripen(tx)
    assert queue.waits(box.ledger, box.reads)
    assert not queue.waits(box.ledger, '[["other",1,1]]')
    box.claim()
    assert not queue.waits(box.ledger, box.reads)


def test_the_next_due_time_is_that_of_the_earliest(box: Box) -> None:
    """None when nothing is planned."""
    assert queue.next_due_ms(box.ledger) is None
    box.submit(work_id="a", after_ms=50)
    box.submit(work_id="b", after_ms=20)
    assert queue.next_due_ms(box.ledger) == box.ledger.clock.ledger().ms + 20


def test_a_snoozed_job_keeps_its_place_by_its_new_time(box: Box) -> None:
    """Its rank follows the time it asked for."""
    claimed = box.lease(priority=2)
    box.hand_in(claimed, Snooze(1_000, "later"))
    due, rank = box.job(claimed.lease.id, "due_ms, rank")
    assert due == box.ledger.clock.ledger().ms + 1_000
    assert rank == due - 2 * limits.HEAD_START_MS


def test_a_retried_job_keeps_the_head_start_of_its_priority(box: Box) -> None:
    """Rank and due time move by the same amount."""
    claimed = box.lease(priority=-3)
    box.dial.pass_ms(10_000)
    box.hand_in(claimed, Retry("again", after_ms=700))
    due, rank = box.job(claimed.lease.id, "due_ms, rank")
    assert due == box.ledger.clock.ledger().ms + 700
    assert rank == due + 3 * limits.HEAD_START_MS


@pytest.mark.parametrize(
    "said",
    [
        {"work_id": ""},
        {"work_id": "x" * (limits.WORK_ID_CHARS_MAX + 1)},
        {"work_id": "a\0b"},
        {"work_id": "\ud800"},
        {"kind": "\ud800"},
        {"priority": limits.PRIORITY_MOST + 1},
        {"priority": -limits.PRIORITY_MOST - 1},
        {"after_ms": -1},
        {"after_ms": 1 << 63},
        {"version": 1 << 63},
        {"version": 0},
        {"payload": "\ud800"},
        {"payload": float("nan")},
        {"payload": "x" * limits.PAYLOAD_BYTES_MAX},
    ],
    ids=lambda said: next(iter(said)),
)
def test_a_submission_out_of_bounds_is_refused_before_any_turn(said: dict[str, object]) -> None:
    """By the one sentence that a client can act on, never by an error of the engine."""
    with pytest.raises(errors.PayloadError):
        queue.bindings(Submission(**{"kind": "noop", **said}))  # type: ignore[arg-type]


def test_the_largest_submission_comes_back_whole(box: Box) -> None:
    """To the byte at each bound, NUL and all planes of Unicode included."""
    text = "\0😀é" + "x" * (limits.PAYLOAD_BYTES_MAX - 14)
    work_id = "é" * limits.WORK_ID_CHARS_MAX
    claimed = box.lease(payload=text, work_id=work_id, priority=limits.PRIORITY_MOST, source="a\0b")
    assert claimed.payload == text
    assert box.job(claimed.lease.id, "work_id, source") == (work_id, "a\0b")


def test_the_payload_of_a_job_that_is_not_there_is_none(box: Box) -> None:
    """A miss is an answer."""
    assert box.ledger.read(queue.SPLITS["payload"], {"id": JobId(9)}) == []
