"""The desk of a worker over a real ledger: what it does while the main thread goes on beside it."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from appliance.clock import SYSTEM
from appliance.coordination import files
from appliance.coordination.handin import Returned
from appliance.coordination.outcomes import Done
from appliance.coordination.splits import Step
from appliance.coordination.work import Claimed
from appliance.log import Log
from appliance.runtime.supervision.identity import Process
from appliance.runtime.supervision.seats import Seat
from appliance.runtime.work.batch import Batch
from appliance.runtime.work.desk import Desk
from appliance.store.wake import Waiter
from tests.ledger.box import ANNA, KINDS, Box
from tests.ledger.gathering import gather, parts


class Quick(Batch):
    """A batch whose main thread finishes its work in the very moment after somebody has looked what goes on."""

    outcome: Returned | None = None

    def current(self) -> Claimed | None:
        """What goes on, for the last time."""
        found = super().current()
        if self.outcome is not None:
            self.give(self.outcome)
            self.outcome = None
        return found


@pytest.fixture
def desk(box: Box) -> Iterator[Desk]:
    """A desk of a worker that is being stopped at the end of its time."""
    stop, parent = os.eventfd(1), os.eventfd(0)
    process = Process(boot_id="boot", pid=os.getpid(), start_ticks=1, nonce="0123456789abcdef")
    seat = Seat(
        name="worker-default-1",
        kind="worker",
        argument={},
        process=process,
        clock=SYSTEM,
        log=Log(wall_ms=SYSTEM.wall_ms),
        stop=stop,
        parent=parent,
        line=stop,
    )
    waiter = Waiter(box.ledger.place.runtime, ("work", "ask"), process.nonce)
    yield Desk(
        ledger=box.ledger,
        seat=seat,
        batch=Quick(box.ledger.clock),
        waiter=waiter,
        holder=ANNA,
        kinds=tuple(handler.kind for handler in KINDS),
        triples={handler.kind: (handler.kind, handler.version, handler.schema) for handler in KINDS},
        stop_ms=0,
    )
    waiter.close()
    os.close(stop)
    os.close(parent)


def test_a_fold_that_ends_while_it_is_handed_back_keeps_its_output(box: Box, desk: Desk) -> None:
    """It is handed in or handed back, never both: what the ledger names as its output is on the disk."""
    id_ = gather(box, count=2, window=2)
    assert box.hand_in(parts(box)[0], Done("a"))
    desk.exchange([], (), claim=True)
    claimed = desk.batch.take()
    assert claimed is not None
    assert claimed.folding is not None
    mine = files.take_over(box.ledger.place.state, claimed.lease, claimed.folding)
    size = files.append(mine, 0, b"folded")
    assert isinstance(desk.batch, Quick)
    desk.batch.outcome = Returned(claimed=claimed, outcome=Step(folded=1, carried=None, output_bytes=size))
    desk.waiter.drain()
    desk.serve()
    fence = box.one("SELECT output_fence FROM split WHERE job_id = ?", id_)
    assert fence == 0 or files.output_path(box.ledger.place.state, claimed.lease, fence).read_bytes() == b"folded"


def test_a_claim_that_cannot_be_read_ends_the_worker_and_does_not_spin(box: Box, desk: Desk) -> None:
    """A payload that is no JSON, typed by hand: the error goes up to whoever starts workers at a pace, and is in the log."""
    box.type(
        "INSERT INTO job (kind, work_id, version, state, rank, due_ms, schema, payload, failures_max, submitted_ms,"
        " move, actor, moved_ms) VALUES ('noop', 'typed', 1, 'ready', 0, 0, 1, 'no JSON', 3, 0, 'submit', 'client', 0)"
    )
    with pytest.raises(ValueError, match="Expecting value"):
        desk.exchange([], (), claim=True)


def test_p13_an_outcome_that_the_ledger_refuses_is_the_failure_of_its_own_job(box: Box, desk: Desk) -> None:
    """It would end worker after worker otherwise, and nobody would be charged."""
    bad, good = box.lease(payload="bad"), box.lease(payload="good")
    box.type(f"CREATE TRIGGER no BEFORE INSERT ON result WHEN NEW.job_id = {bad.lease.id} BEGIN SELECT raise(ABORT, 'no'); END")
    desk.exchange([Returned(claimed=each, outcome=Done("x")) for each in (bad, good)], (), claim=False)
    assert box.job(good.lease.id) == "done"
    assert box.job(bad.lease.id, "state, failures, error_class") == ("planned", 1, "outcome.ConstraintError")
