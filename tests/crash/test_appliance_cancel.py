"""Somebody cancels a job: one that waits, one at work that listens, one that does not, and one in parts."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from appliance import limits
from appliance.clock import SYSTEM
from tests.crash.appliance_stage import Appliance, appliance, settings
from tests.crash.facts import until
from tests.crash.gates import Gate

pytestmark = pytest.mark.crash


def cancel(box: Appliance, id_: int) -> str:
    """What the command says."""
    done = box.command("jobs", "cancel", str(id_), "--why", "as a test")
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_job_that_waits_is_cancelled_at_once(tmp_path: Path) -> None:
    """Ready and planned ones; they never begin, and a second time is refused."""
    gate = Gate(tmp_path / "gate")
    with appliance(tmp_path, settings(workers=1)) as box:
        box.submit("hold", [gate.payload()])
        gate.calls(1)
        (ready,) = box.submit("note", [gate.payload()])
        box.command("submit", "note", "--payload", "2", "--after", "3600")
        planned = box.json("jobs", "list")[0]["id"]
        for id_ in (ready, planned):
            assert "cancelled" in cancel(box, id_)
            assert box.show(id_).state == "cancelled"
            assert box.command("jobs", "cancel", str(id_)).returncode == 65
        gate.open()
        box.ended(*box.submit("note", [3]))
        assert len(gate.began()) == 1
        (event,) = [event for event in box.events(ready) if event.move == "cancel"]
        assert (event.actor, str(event.cause).endswith(": as a test")) == ("person", True)


@pytest.mark.parametrize("kind", ["polite", "locked.polite", "locked.deaf"])
def test_a_job_at_work_that_is_cancelled_ends_soon(tmp_path: Path, kind: str) -> None:
    """In place it listens, in a hand it need not; its worker goes on, and nothing is counted."""
    gate = Gate(tmp_path / "gate")
    with appliance(tmp_path) as box:
        before = box.pids()
        (id_,) = box.submit(kind, [gate.payload()])
        gate.calls(1)
        asked = SYSTEM.boot()
        assert "asked" in cancel(box, id_)
        (shown,) = box.ended(id_)
        assert SYSTEM.boot() - asked < limits.CANCEL_GRACE_MS
        assert (shown.state, shown.failures, shown.attempt) == ("cancelled", 0, 1)
        assert box.pids() == before


def test_a_job_that_does_not_listen_is_ended_all_the_same(tmp_path: Path) -> None:
    """Its worker is ended with it, a part's too; the next one does what waited, and no failure is counted."""
    gate = Gate(tmp_path / "gate")
    with appliance(tmp_path) as box:
        (deaf,) = box.submit("deaf", [gate.payload()])
        (split,) = box.submit("slices", [gate.payload(parts=4, window=4, held=1)])
        until(lambda: {call.ordinal for call in gate.began()} >= {-1, 1}, what="both at work")
        before = box.pids()
        (waits,) = box.submit("note", [1])
        for id_ in (deaf, split):
            assert "asked" in cancel(box, id_)
        shown = box.ended(deaf, split, waits, seconds=30)
        assert [(each.state, each.failures) for each in shown] == [("cancelled", 0), ("cancelled", 0), ("done", 0)]
        names = ("worker-default-1", "worker-default-2")
        until(lambda: all(box.pids().get(name, before[name]) != before[name] for name in names), what="the end of both workers")


def test_p8_a_job_in_parts_that_is_cancelled_leaves_nothing(tmp_path: Path) -> None:
    """Neither parts, nor a split, nor files; a part at work comes too late, which is normal."""
    gate = Gate(tmp_path / "gate")
    with appliance(tmp_path) as box:
        (id_,) = box.submit("slices", [gate.payload(parts=20, window=8, held=3)])
        until(lambda: any(call.ordinal == 3 for call in gate.began()), what="the part that waits")
        cancel(box, id_)
        box.ended(id_)
        gate.open()
        files = box.paths.state / "files"
        until(lambda: not [path for path in files.rglob("*") if path.is_file()], what="the removal of its files")
        with box.ledger() as ledger:
            for table in ("part", "split", "file", "result"):
                assert ledger.read(f"SELECT count(*) FROM {table}") == [(0,)], table  # noqa: S608 - the schema's own names
        (shown,) = box.ended(*box.submit("note", [1]))
        assert shown.state == "done"


def test_a_cancelled_job_whose_worker_dies_is_cancelled_and_not_tried_again(tmp_path: Path) -> None:
    """The wish outlives the process that should have heard of it."""
    gate = Gate(tmp_path / "gate")
    with appliance(tmp_path) as box:
        (id_,) = box.submit("deaf", [gate.payload()])
        worker = gate.calls(1)[0].pid
        cancel(box, id_)
        os.kill(worker, signal.SIGKILL)
        (shown,) = box.ended(id_)
        assert (shown.state, shown.attempt) == ("cancelled", 1)
        assert len(gate.began()) == 1
