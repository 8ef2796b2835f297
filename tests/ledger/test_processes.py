"""``processes.sql``: who is alive and how far work has come, in memory, and never in the way of work."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from appliance.clock import SYSTEM, BootInstant
from appliance.coordination import processes
from appliance.coordination.processes import Entered
from appliance.coordination.work import Fence, JobId, Lease
from appliance.log import Log
from appliance.runtime.supervision.identity import Process
from appliance.runtime.supervision.seats import Seat
from appliance.runtime.work.worker import Progress
from appliance.store.live import Live
from tests.ledger.box import ANNA, BERT

BOOT_ID = "bootboot"
PART = Lease(noun="part", id=JobId(7), attempt=1, fence=Fence(2), ordinal=3)
LATE = replace(PART, fence=Fence(1))
NOW = BootInstant(5)


@pytest.fixture
def live(tmp_path: Path) -> Iterator[Live]:
    """A database of the living."""
    found = Live(tmp_path, BOOT_ID)
    yield found
    found.close()


def stands(live: Live) -> list[tuple[int, int, int]]:
    """Attempt, done and total of the notes about the job."""
    return [(note.attempt, note.done, note.total) for note in processes.progress_of(live, PART.id)]


def anna() -> Entered:
    """A worker."""
    return Entered(holder=ANNA, kind="worker", name="worker-1", release="1", started=NOW)


def test_a_process_enters_and_leaves(live: Live) -> None:
    """Entering twice is entering once, and who is not there can leave."""
    processes.enter(live, anna())
    processes.enter(live, anna())
    assert processes.entered(live) == [anna()]
    processes.leave(live, BERT)
    processes.leave(live, ANNA)
    assert processes.entered(live) == []


def test_p3_a_late_attempt_neither_notes_nor_forgets_the_progress_of_the_next(live: Live) -> None:
    """What is shown is how far the attempt that stands has come."""
    processes.note_progress(live, PART, 4, 10, NOW)
    processes.note_progress(live, LATE, 9, 10, NOW)
    processes.forget_progress(live, LATE)
    assert stands(live) == [(2, 4, 10)]
    processes.forget_progress(live, PART)
    assert stands(live) == []


@pytest.mark.timeout(10)
def test_whoever_is_frozen_in_a_transaction_keeps_no_work_from_going_on(live: Live, tmp_path: Path) -> None:
    """A note is lost then; the work does not wait for it and does not hear of it, nor does who buries the dead."""
    processes.enter(live, anna())
    frozen = Live(tmp_path, BOOT_ID)
    with frozen.write():
        processes.note_progress(live, PART, 4, 10, NOW)
        processes.forget_progress(live, PART)
        processes.leave(live, ANNA)
        Live(tmp_path, BOOT_ID).close()
    frozen.close()
    assert stands(live) == []


def test_the_progress_of_work_that_ended_is_no_news(live: Live) -> None:
    """A film of a thousand parts leaves nothing behind in memory."""
    line = os.eventfd(0)
    process = Process(boot_id=BOOT_ID, pid=1, start_ticks=1, nonce="0123456789abcdef")
    seat = Seat(
        name="worker-1",
        kind="worker",
        argument={},
        process=process,
        clock=SYSTEM,
        log=Log(wall_ms=SYSTEM.wall_ms),
        stop=line,
        parent=line,
        line=line,
    )
    progress = Progress(live=live, seat=seat)
    progress(PART, 1, 10)
    assert stands(live) == [(2, 1, 10)]
    progress.end(PART)
    assert stands(live) == []
    os.close(line)


def test_notes_that_find_no_room_are_lost_and_cost_no_work(live: Live) -> None:
    """The memory that the runtime folder lies in is full."""
    live._connection.execute("PRAGMA max_page_count = 6")  # noqa: SLF001 - as a full filesystem says it
    for id_ in range(1, 1_000):
        processes.note_progress(live, replace(PART, id=JobId(id_)), 1, 10, NOW)
    assert len(live.rows("SELECT job_id FROM progress")) < 999
