"""``leases.sql``: what a holder may do, and that whoever lost the fence changes nothing."""

from __future__ import annotations

import pytest

from appliance import limits
from appliance.coordination import decisions, freeing, leases
from appliance.coordination.freeing import Death
from appliance.coordination.handin import Released
from appliance.coordination.outcomes import Done, Follow, Outcome, Reject, Retry, Snooze, Split, Unclear
from appliance.coordination.states import Actor
from appliance.coordination.work import FilePlace, Holder, Lease
from tests.ledger.box import ANNA, BERT, WHO, Box, everything

KILLED = "killed"
OUTCOMES: list[Outcome | Released] = [
    Done(1, [Follow(kind="noop")]),
    Retry("again"),
    Snooze(5),
    Reject("bad"),
    Unclear("eh?"),
    Split(count=3, window=2),
    Released(cause="stop", started=True),
]
NAMES = [type(outcome).__name__ for outcome in OUTCOMES]


def free(box: Box, death: Death, holder: Holder = ANNA) -> list[Lease]:
    """The steward frees a dead holder's work."""
    with box.ledger.write() as tx:
        return freeing.free(tx, holder, death, lambda _: 100, 0.5)


def test_done_keeps_the_result_the_files_and_the_follow_ups(box: Box) -> None:
    """All in the transaction that ends the job."""
    claimed = box.lease("noop", payload=1)
    file = FilePlace(id=claimed.lease.id, attempt=1, ordinal=-1, part_attempt=0, name="a.txt", size_bytes=3, sha256="0" * 64)
    assert box.hand_in(claimed, Done({"ok": True}, [Follow(kind="film", payload=2, priority=5)]), (file,))
    assert box.job(claimed.lease.id, "state, holder, ended_ms IS NOT NULL") == ("done", None, 1)
    assert box.ledger.read("SELECT value, attempt FROM result") == [('{"ok":true}', 1)]
    assert box.ledger.read("SELECT name, ordinal FROM file") == [("a.txt", -1)]
    follow = box.ledger.read("SELECT kind, work_id, parent_id, priority, actor FROM job WHERE id <> ?", (claimed.lease.id,))
    assert follow == [("film", f"then:{claimed.lease.id}:0", claimed.lease.id, 5, "worker")]


@pytest.mark.parametrize("outcome", OUTCOMES, ids=NAMES)
def test_a_late_outcome_changes_nothing_but_history_p3(box: Box, outcome: Outcome | Released) -> None:
    """Its process was taken for dead, and another has the job now."""
    claimed = box.lease()
    free(box, Death(cause=KILLED, charged=False, lease=None))
    (current,) = box.claim(BERT)
    before, moves = everything(box), box.moves(claimed.lease.id)
    file = FilePlace(id=claimed.lease.id, attempt=1, ordinal=-1, part_attempt=0, name="a.txt", size_bytes=3, sha256="0" * 64)
    assert not box.hand_in(claimed, outcome, (file,))
    assert everything(box) == before
    assert box.moves(claimed.lease.id) == [*moves, "late"]
    assert box.hand_in(current, Done())


@pytest.mark.parametrize("first", OUTCOMES, ids=NAMES)
@pytest.mark.parametrize("second", OUTCOMES, ids=NAMES)
def test_an_outcome_handed_in_twice_counts_once_p2_p3(box: Box, first: Outcome | Released, second: Outcome | Released) -> None:
    """The first commit raised and is unknown, so it is asked for again; whatever the second says, the first stands."""
    claimed = box.lease()
    assert box.hand_in(claimed, first)
    before, moves = everything(box), box.moves(claimed.lease.id)
    assert not box.hand_in(claimed, second)
    assert everything(box) == before
    assert box.moves(claimed.lease.id) == [*moves, "late"]


def test_failures_are_counted_up_to_the_limit_of_the_kind_p13(box: Box) -> None:
    """Then the job is dead, and stays so until a person says otherwise."""
    asked = box.submit("noop")
    for attempt in (1, 2, 3):
        (claimed,) = box.claim()
        assert (claimed.failures, claimed.lease.fence) == (attempt - 1, attempt)
        assert box.hand_in(claimed, Retry("again", after_ms=0, error_class="io"))
    assert box.job(asked.id, "state, failures, error_class, error_text") == ("dead", 3, "io", "again")
    assert box.claim() == []


def test_a_kind_without_a_second_try_dies_at_its_first_failure(box: Box) -> None:
    """The smallest limit."""
    claimed = box.lease("once")
    assert box.hand_in(claimed, Retry("no"))
    assert box.job(claimed.lease.id, "state, failures") == ("dead", 1)


def test_a_retry_waits_for_its_back_off(box: Box) -> None:
    """It is planned, and not in the claim's way."""
    claimed = box.lease()
    box.hand_in(claimed, Retry("again"))
    state, due = box.job(claimed.lease.id, "state, due_ms")
    assert state == "planned"
    assert due > box.ledger.clock.ledger().ms


def test_a_release_counts_no_failure(box: Box) -> None:
    """A stop is nobody's fault."""
    claimed = box.lease()
    assert box.hand_in(claimed, Released(cause="stop", started=False))
    assert box.job(claimed.lease.id, "state, failures, starts, attempt") == ("ready", 0, 0, 1)


def test_a_job_that_never_comes_to_an_outcome_is_unclear_p13(box: Box) -> None:
    """After so many starts a person must look; no input is started without end."""
    asked = box.submit()
    for _ in range(limits.STARTS_WITHOUT_OUTCOME_MAX):
        (claimed,) = box.claim()
        assert box.hand_in(claimed, Released(cause="power", started=True))
    assert box.job(asked.id, "state, starts, failures") == ("unclear", limits.STARTS_WITHOUT_OUTCOME_MAX, 0)
    with box.ledger.write() as tx:
        decisions.decide(tx, asked.id, "ready", WHO)
    assert box.job(asked.id, "state, starts") == ("ready", 0)


@pytest.mark.parametrize("outcome", [Snooze(5), Retry("x"), Reject("x"), Unclear("x")], ids=["snooze", "retry", "reject", "doubt"])
def test_an_outcome_starts_the_count_of_starts_anew(box: Box, outcome: Outcome) -> None:
    """Only starts in a row that came to nothing are counted; a doubt keeps them for the person to see."""
    box.submit()
    box.hand_in(box.claim()[0], Released(cause="power", started=True))
    (claimed,) = box.claim()
    box.hand_in(claimed, outcome)
    assert box.job(claimed.lease.id, "starts") == (1 if isinstance(outcome, Unclear) else 0)


@pytest.mark.parametrize(("outcome", "state"), [(Done(), "done"), (Retry("x"), "cancelled"), (Snooze(1), "cancelled")])
def test_a_job_asked_to_cancel_ends_with_its_outcome(box: Box, outcome: Outcome, state: str) -> None:
    """Done is done; whatever else its handler says, it is not tried again."""
    claimed = box.lease()
    with box.ledger.write() as tx:
        assert decisions.cancel(tx, claimed.lease.id, WHO) == "asked"
    assert box.hand_in(claimed, outcome)
    assert box.job(claimed.lease.id) == state


def test_a_job_asked_to_cancel_is_not_released_to_run_again(box: Box) -> None:
    """A stop of the worker ends it instead."""
    claimed = box.lease()
    with box.ledger.write() as tx:
        decisions.cancel(tx, claimed.lease.id, WHO)
    assert box.hand_in(claimed, Released(cause="stop", started=True))
    assert box.job(claimed.lease.id) == "cancelled"


def test_nobody_stops_a_job_that_nobody_asked_to_cancel(box: Box) -> None:
    """The rule stands in the statement."""
    claimed = box.lease()
    with box.ledger.write() as tx:
        assert not leases.stop(tx, claimed.lease, started=True, cause="x")
    assert box.job(claimed.lease.id) == "leased"


def test_what_is_asked_to_cancel_is_known_to_its_holder(box: Box) -> None:
    """By job and attempt."""
    claimed = box.lease()
    box.lease(work_id="other")
    with box.ledger.write() as tx:
        assert leases.asked(tx, ANNA) == set()
        decisions.cancel(tx, claimed.lease.id, WHO)
        assert leases.asked(tx, ANNA) == {(claimed.lease.id, 1)}
        assert leases.asked(tx, BERT) == set()


def test_a_holder_is_listed_while_it_holds_anything(box: Box) -> None:
    """And what it holds with it."""
    claimed = box.lease()
    with box.ledger.write() as tx:
        assert [each.lease for each in leases.held(tx, ANNA)] == [claimed.lease]
        assert leases.held(tx, BERT) == []
    assert leases.holders(box.ledger) == [ANNA]
    box.hand_in(claimed, Done())
    assert leases.holders(box.ledger) == []


def test_the_death_of_a_holder_charges_the_work_that_went_on_p5(box: Box) -> None:
    """And that alone: the rest of its batch goes back uncounted, the first death costs no wait."""
    for n in range(3):
        box.submit(work_id=str(n))
    going_on, *rest = box.claim(ANNA)
    assert len(free(box, Death(cause=KILLED, charged=True, lease=going_on.lease))) == 3
    assert box.job(going_on.lease.id, "state, failures, starts, error_class") == ("ready", 1, 0, "died.killed")
    assert {box.job(each.lease.id, "state, failures, starts") for each in rest} == {("ready", 0, 0)}
    assert free(box, Death(cause=KILLED, charged=True, lease=going_on.lease)) == []


def test_a_second_death_waits(box: Box) -> None:
    """It backs off as any failure does."""
    box.submit()
    for state in ("ready", "planned"):
        (claimed,) = box.claim(ANNA)
        free(box, Death(cause=KILLED, charged=True, lease=claimed.lease))
        assert box.job(claimed.lease.id) == state


def test_a_death_that_nobody_saw_counts_a_start_of_each(box: Box) -> None:
    """The power went: each may have been the cause, none is charged."""
    box.submit(work_id="a")
    box.submit(work_id="b")
    claimed = box.claim(ANNA)
    free(box, Death(cause="power", charged=False, lease=None, known=False))
    assert {box.job(each.lease.id, "state, failures, starts") for each in claimed} == {("ready", 0, 1)}


def test_a_death_ends_what_was_asked_to_cancel(box: Box) -> None:
    """It does not start again."""
    claimed = box.lease()
    with box.ledger.write() as tx:
        decisions.cancel(tx, claimed.lease.id, WHO)
    free(box, Death(cause=KILLED, charged=True, lease=claimed.lease))
    assert box.job(claimed.lease.id, "state, actor") == ("cancelled", Actor.STEWARD)


def test_one_holder_s_death_leaves_the_others_work_alone_p3(box: Box) -> None:
    """Only rows of that very holder are freed."""
    claimed = box.lease(holder=BERT)
    assert free(box, Death(cause=KILLED, charged=True, lease=claimed.lease), ANNA) == []
    assert box.job(claimed.lease.id, "state, holder") == ("leased", BERT)


@pytest.mark.parametrize(
    "outcome",
    [
        Snooze(1 << 70),
        Snooze(-5),
        Retry("x", after_ms=1 << 70),
        Retry("\ud800", after_ms=-(1 << 70), error_class="\ud800"),
        Reject("\ud800\0"),
        Unclear("x" * 100_000),
        Released(cause="\udfff", started=True),
    ],
    ids=["late", "early", "never", "surrogate", "nul", "long", "cause"],
)
def test_what_a_handler_says_is_cut_to_what_the_ledger_can_keep_p13(box: Box, outcome: Outcome | Released) -> None:
    """A delay over ten years and a broken text are no reason for an error of the engine."""
    claimed = box.lease()
    assert box.hand_in(claimed, outcome)
    assert box.job(claimed.lease.id) in {"planned", "ready", "rejected", "unclear"}


@pytest.mark.parametrize(("after_ms", "topic"), [(-5, "work"), (0, "work"), (5, "due")])
def test_a_retry_wakes_whoever_waits_for_the_state_it_led_to(box: Box, after_ms: int, topic: str) -> None:
    """A delay in the past is none: the job is ready, and a free worker hears so."""
    claimed = box.lease()
    with box.ledger.write() as tx:
        assert leases.fail(tx, claimed.lease, leases.Failure(error_class="x", error_text="x", after_ms=after_ms))
        assert topic in tx.topics
        tx.topics.clear()
    assert box.job(claimed.lease.id) == ("planned" if topic == "due" else "ready")
