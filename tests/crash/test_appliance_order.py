"""The order in which work is done: by rank, in batches, each job once."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from pathlib import Path

import pytest

from appliance import limits
from appliance.coordination import queue
from appliance.coordination.work import Submission
from tests.crash.appliance_stage import Appliance, appliance, settings
from tests.crash.gates import Gate

pytestmark = pytest.mark.crash


@pytest.fixture
def held(tmp_path: Path) -> Iterator[tuple[Appliance, Gate, Gate]]:
    """An appliance whose only worker waits at the first gate; the second is for the log of what comes after."""
    first, second = Gate(tmp_path / "first"), Gate(tmp_path / "second")
    with appliance(tmp_path, settings(workers=1)) as box:
        box.submit("hold", [first.payload()])
        first.calls(1)
        yield box, first, second


def order(box: Appliance, first: Gate, second: Gate, ids: list[int]) -> list[int]:
    """Open the gate, and give the jobs in the order in which they began."""
    first.open()
    box.ended(*ids)
    return [call.job for call in second.began()]


def test_higher_priorities_come_first_and_equals_in_their_order(held: tuple[Appliance, Gate, Gate]) -> None:
    """What was handed in last is done first when it is more urgent."""
    box, first, second = held
    ids = {
        priority: box.submit("note", [second.payload(), second.payload()], priority=priority) for priority in (-5, 0, 5, 100, -100)
    }
    wanted = [id_ for priority in (100, 5, 0, -5, -100) for id_ in ids[priority]]
    assert order(box, first, second, wanted) == wanted


def test_p6_a_low_priority_ages_instead_of_starving(held: tuple[Appliance, Gate, Gate]) -> None:
    """One step of priority is worth a minute: what has waited two is before what is one step more urgent and new."""
    box, first, second = held
    old = [Submission(kind="note", payload=second.payload(), work_id=secrets.token_hex(8), priority=0)]
    with box.ledger() as ledger, ledger.write() as tx:
        before = tx.now.ms - 2 * limits.HEAD_START_MS
        bound = [queue.bindings(each) | {"after_ms": before - tx.now.ms} for each in old]
        (waited,) = [answer.id for answer in queue.submit_bound(tx, bound)]
    (urgent,) = box.submit("note", [second.payload()], priority=1)
    (more_urgent,) = box.submit("note", [second.payload()], priority=3)
    assert order(box, first, second, [waited, urgent, more_urgent]) == [more_urgent, waited, urgent]


def test_p2_thousands_of_short_jobs_are_done_once_each_in_batches(tmp_path: Path) -> None:
    """With far fewer commits than jobs: what a batch claims and hands in shares an instant."""
    gate = Gate(tmp_path / "gate")
    with appliance(tmp_path) as box:
        ids = box.submit("note", [gate.payload(n=number) for number in range(3_000)])
        box.ended(ids[-1], seconds=40)
        shown = box.ended(*ids, seconds=40)
        assert {(each.state, each.attempt, each.failures) for each in shown} == {("done", 1, 0)}
        assert sorted(call.job for call in gate.began()) == ids
        with box.ledger() as ledger:
            rows = ledger.read("SELECT count(*), count(DISTINCT holder || at_ms) FROM event WHERE move = 'claim'")
            assert rows[0][0] == len(ids)
            assert rows[0][1] < len(ids) / 3
            assert ledger.read("SELECT count(*), count(DISTINCT job_id) FROM result") == [(3_000, 3_000)]


def test_p5_a_long_job_holds_no_short_one_back(tmp_path: Path) -> None:
    """A job that was claimed behind one that turns out to be long is done by another worker."""
    gate = Gate(tmp_path / "gate")
    with appliance(tmp_path) as box:
        box.ended(*box.submit("hold", [{"until": 0, "n": number} for number in range(200)]))  # measured to be short
        long, *short = box.submit("hold", [gate.payload(), *({"until": 0, "n": number} for number in range(60))])
        gate.calls(1)
        assert {each.state for each in box.ended(*short)} == {"done"}
        assert box.show(long).state == "leased"
        assert {each.failures for each in box.ended(*short)} == {0}
        gate.open()
        assert box.ended(long)[0].attempt == 1
