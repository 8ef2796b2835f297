"""``history.sql``: what a person is shown of jobs and their past."""

from __future__ import annotations

import pytest

from appliance.coordination.outcomes import Done, Reject
from appliance.coordination.work import FilePlace
from appliance.store.statements import load
from tests.ledger.box import ANNA, Box

SQL = load("appliance.coordination", "history.sql")


def test_the_history_of_a_job_is_its_moves_in_order(box: Box) -> None:
    """From an event on, so that a reader goes on where it stopped."""
    claimed = box.lease()
    box.hand_in(claimed, Done(1))
    bound = {"id": claimed.lease.id, "after": 0, "most": 10}
    rows = box.ledger.read(SQL["of_job"], bound)
    assert [row[4:9] for row in rows] == [
        ("submit", None, "ready", 0, None),
        ("claim", "ready", "leased", 1, None),
        ("finish", "leased", "done", 1, box.ledger.clock.ledger().ms),
    ]
    assert [row[10] for row in rows] == [None, ANNA, ANNA]
    assert box.ledger.read(SQL["of_job"], bound | {"after": rows[1][0]}) == rows[2:]
    assert box.ledger.read(SQL["of_job"], bound | {"id": 99}) == []


def test_a_job_is_shown_with_its_result(box: Box) -> None:
    """And without one before it has one."""
    claimed = box.lease(payload=5)
    assert box.ledger.read(SQL["show"], {"id": claimed.lease.id})[0][-2:] == (None, None)
    box.hand_in(claimed, Done([1]))
    assert box.ledger.read(SQL["show"], {"id": claimed.lease.id})[0][-2] == "[1]"
    assert box.ledger.read(SQL["show"], {"id": 99}) == []


def test_jobs_are_listed_from_the_newest_back(box: Box) -> None:
    """All, or those of one state."""
    ids = [box.submit(work_id=str(n)).id for n in range(4)]
    box.hand_in(box.claim(most=1)[0], Reject("x"))
    bound = {"before": 1 << 62, "most": 2}
    assert [row[0] for row in box.ledger.read(SQL["newest"], bound)] == [ids[3], ids[2]]
    assert [row[0] for row in box.ledger.read(SQL["newest"], bound | {"before": ids[1]})] == [ids[0]]
    assert [row[0] for row in box.ledger.read(SQL["newest_in_state"], bound | {"state": "rejected"})] == [ids[0]]
    assert box.ledger.read(SQL["newest_in_state"], bound | {"state": "dead"}) == []


def test_jobs_are_counted_by_state(box: Box) -> None:
    """Only states that have any."""
    assert box.ledger.read(SQL["counts"]) == []
    box.submit(work_id="a")
    box.submit(work_id="b", after_ms=5)
    assert box.ledger.read(SQL["counts"]) == [("planned", 1), ("ready", 1)]


@pytest.mark.parametrize("done", [True, False])
def test_whoever_waits_for_a_job_learns_its_end(box: Box, done: bool) -> None:  # noqa: FBT001 - the parameter of the test
    """And nothing before."""
    claimed = box.lease()
    if done:
        box.hand_in(claimed, Done(1))
    assert box.ledger.read(SQL["ended"], {"id": claimed.lease.id}) == ([("done",)] if done else [])


def test_the_files_of_a_job_are_listed_by_name(box: Box) -> None:
    """Those of its parts are not."""
    claimed = box.lease()
    names = [
        FilePlace(id=claimed.lease.id, attempt=1, ordinal=-1, part_attempt=0, name=name, size_bytes=1, sha256="0" * 64)
        for name in ("b", "a")
    ]
    box.hand_in(claimed, Done(1), tuple(names))
    assert [row[3] for row in box.ledger.read(SQL["files"], {"id": claimed.lease.id})] == ["a", "b"]
    assert box.ledger.read(SQL["files"], {"id": 99}) == []
