"""``history.sql``: what a person is shown of jobs and their past."""

from __future__ import annotations

import pytest

from appliance import errors
from appliance.clock import WallInstant
from appliance.coordination import decisions, history
from appliance.coordination.outcomes import Done, Reject, Retry, Split
from appliance.coordination.states import State
from appliance.coordination.work import FilePlace, JobId
from tests.ledger.box import ANNA, WHO, Box


def test_the_history_of_a_job_is_its_moves_in_order(box: Box) -> None:
    """From an event on, so that a reader goes on where it stopped."""
    claimed = box.lease()
    box.hand_in(claimed, Done(1))
    told = history.events(box.ledger, claimed.lease.id)
    now = box.ledger.clock.ledger()
    assert [(each.move, each.was, each.became, each.attempt, each.started) for each in told] == [
        ("submit", None, "ready", 0, None),
        ("claim", "ready", "leased", 1, None),
        ("finish", "leased", "done", 1, now),
    ]
    assert [each.holder for each in told] == [None, ANNA, ANNA]
    assert history.events(box.ledger, claimed.lease.id, after=told[1].seq) == told[2:]
    assert history.events(box.ledger, claimed.lease.id, most=1) == told[:1]
    assert history.events(box.ledger, 99) == []


def test_the_history_of_a_split_job_has_its_parts_and_its_fold(box: Box) -> None:
    """Each with its number."""
    claimed = box.lease("film")
    box.hand_in(claimed, Split(count=2, window=2))
    told = [(each.noun, each.ordinal, each.move) for each in history.events(box.ledger, claimed.lease.id)]
    assert told[2:] == [("split", 0, "open"), ("job", None, "split"), ("part", 0, "open"), ("part", 1, "open")]


def test_a_job_is_shown_with_its_result(box: Box) -> None:
    """As JSON, with instants of the ledger; and without a result before it has one."""
    claimed = box.lease(payload={"a": [1]}, work_id="w", priority=3)
    before = history.show(box.ledger, claimed.lease.id)
    assert (before.payload, before.result, before.sha256, before.state, before.holder) == ({"a": [1]}, None, None, "leased", ANNA)
    box.dial.pass_ms(40)
    box.hand_in(claimed, Done({"ok": None}))
    after = history.show(box.ledger, claimed.lease.id)
    assert (after.result, after.state, after.priority, after.holder) == ({"ok": None}, "done", 3, None)
    assert after.ended is not None
    assert after.ended - after.submitted == 40


def test_a_job_that_was_asked_to_cancel_says_when(box: Box) -> None:
    """So that a person sees why it still goes on."""
    claimed = box.lease()
    with box.ledger.write() as tx:
        decisions.cancel(tx, claimed.lease.id, WHO)
    assert history.show(box.ledger, claimed.lease.id).cancel_asked == box.ledger.clock.ledger()


def test_a_job_that_is_not_there_is_said_so(box: Box) -> None:
    """By its own error."""
    with pytest.raises(errors.NoSuchJobError):
        history.show(box.ledger, 99)
    with pytest.raises(errors.NoSuchJobError):
        history.state(box.ledger, 99)


def test_the_state_of_a_job_is_one_word(box: Box) -> None:
    """For whoever needs no more."""
    assert history.state(box.ledger, box.submit().id) == "ready"


def test_jobs_are_listed_from_the_newest_back(box: Box) -> None:
    """All, or those of one state, page by page."""
    ids = [box.submit(work_id=str(n)).id for n in range(4)]
    box.hand_in(box.claim(most=1)[0], Reject("x"))
    assert [each.id for each in history.newest(box.ledger, most=2)] == [ids[3], ids[2]]
    assert [each.id for each in history.newest(box.ledger, most=9, before=ids[1])] == [ids[0]]
    assert [(each.id, each.error_text) for each in history.newest(box.ledger, most=9, only=State.REJECTED)] == [(ids[0], "x")]
    assert history.newest(box.ledger, most=9, only=State.DEAD) == []


def test_jobs_are_counted_by_state(box: Box) -> None:
    """Only states that have any."""
    assert history.counts(box.ledger) == {}
    box.submit(work_id="a")
    box.submit(work_id="b", after_ms=5)
    assert history.counts(box.ledger) == {"planned": 1, "ready": 1}


def test_whoever_waits_for_a_job_learns_its_end(box: Box) -> None:
    """And nothing while it goes on, or is tried again."""
    claimed = box.lease()
    assert history.ended(box.ledger, [claimed.lease.id]) == {}
    box.hand_in(claimed, Retry("x", after_ms=0))
    assert history.ended(box.ledger, [claimed.lease.id]) == {}
    box.hand_in(box.claim()[0], Done(1))
    assert history.ended(box.ledger, [claimed.lease.id, JobId(99)]) == {claimed.lease.id: "done"}


def test_the_files_of_a_job_are_listed_by_name(box: Box) -> None:
    """Those of its parts are not."""
    claimed = box.lease()
    kept = [
        FilePlace(id=claimed.lease.id, attempt=1, ordinal=-1, part_attempt=1, name=name, size_bytes=1, sha256="0" * 64)
        for name in ("b", "a")
    ]
    box.hand_in(claimed, Done(1), tuple(kept))
    assert [each.name for each in history.files(box.ledger, claimed.lease.id)] == ["a", "b"]
    assert history.files(box.ledger, 99) == []


def test_an_instant_of_the_ledger_is_shown_as_wall_time(box: Box) -> None:
    """By the anchor that this boot's beginning is."""
    box.dial.pass_ms(7_000)
    assert history.wall(box.ledger, box.ledger.clock.ledger()) == WallInstant(box.dial.wall_ms)
