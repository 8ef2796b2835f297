"""Processes that are stopped and go on later: in a transaction, over their limit, after others took over."""

from __future__ import annotations

import contextlib
import hashlib
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from appliance.clock import SYSTEM
from appliance.coordination import files as paths
from appliance.coordination import freeing, history
from appliance.coordination.freeing import Death
from appliance.coordination.work import Holder
from appliance.site import boot
from appliance.store.turnstile import TurnPage
from tests.crash.appliance_stage import ROOT, Appliance, appliance
from tests.crash.facts import gone, until
from tests.crash.gates import Gate

pytestmark = pytest.mark.crash
RESCUE_MS = 15_000  # the limit of a turn, the supervisor's next look, and what a busy machine adds


def rows(box: Appliance) -> dict[str, Any]:
    """All that the ledger holds, but for the events that say "too late"."""
    found: dict[str, Any] = {}
    with box.ledger() as ledger:
        for (table,) in ledger.read(
            "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name"
        ):
            all_rows = ledger.read(f"SELECT * FROM {table}")  # noqa: S608 - the schema's own names
            found[table] = [row for row in all_rows if table != "event" or "late" not in row]
    return found


def files(box: Appliance) -> set[tuple[str, bytes]]:
    """All that its folder of files holds, by path and content."""
    folder = box.paths.state / "files"
    return {(str(path.relative_to(folder)), path.read_bytes()) for path in folder.rglob("*") if path.is_file()}


def nothing_lands(box: Appliance, id_: int, pid: int, gate: Gate) -> list[str | None]:
    """Let a late process go on: no row and no file is other than before, or more; the moves that came too late."""
    rows_before, files_before = rows(box), files(box)
    gate.open()
    os.kill(pid, signal.SIGCONT)
    until(lambda: late(box, id_), what="the late end")
    until(lambda: files(box) <= files_before, seconds=5, what="the removal of what the late one wrote")
    assert rows(box) == rows_before
    with box.ledger() as ledger:
        for place in history.files(ledger, id_):
            content = paths.path(box.paths.state, place).read_bytes()
            assert hashlib.sha256(content).hexdigest() == place.sha256, place.name
    assert pid in box.pids().values(), "losing the fence is a normal outcome"
    return late(box, id_)


def late(box: Appliance, id_: int) -> list[str | None]:
    """The moves of a job that came too late."""
    return [event.cause for event in box.events(id_) if event.move == "late"]


def stop(pid: int) -> None:
    """Hold a process still; it stands when this returns."""
    os.kill(pid, signal.SIGSTOP)
    until(lambda: (found := boot.stat(pid)) is None or found.stopped, what="the standstill")


def free_as_if_dead(box: Appliance, holder: str) -> None:
    """What a steward does that takes a living process for dead."""
    with box.ledger() as ledger, ledger.write() as tx:
        freeing.free(tx, Holder(holder), Death(cause="mistaken", charged=False, lease=None), lambda _kind: 1, 0.5)
        tx.topics.add("work")


def test_p3_a_program_that_is_stopped_inside_a_transaction_is_overcome(tmp_path: Path) -> None:
    """It is no child of the appliance; it is killed for all to go on, and nothing of its transaction is there."""
    with appliance(tmp_path) as box:
        argv = [sys.executable, "-m", "tests.crash.frozen_writer", str(box.paths.state), str(box.paths.runtime)]
        writer = subprocess.Popen(argv, cwd=ROOT)
        until(lambda: (found := boot.stat(writer.pid)) is not None and found.stopped, what="the standstill of the writer")
        began = SYSTEM.boot()
        assert box.command("submit", "note", "--payload", "1", "--wait").returncode == 0
        assert SYSTEM.boot() - began < RESCUE_MS
        assert writer.wait(5) == -signal.SIGKILL
        with box.ledger() as ledger:
            assert ledger.read("SELECT count(*) FROM job WHERE work_id = 'never'") == [(0,)]


def caught_inside(box: Appliance, page: TurnPage) -> int:
    """The pid of a worker that was stopped while it held the turn."""
    worker = box.pids()["worker-default-1"]

    def caught() -> bool:
        stop(worker)
        held = page.held()
        if held is not None and held.pid == worker:
            return True
        os.kill(worker, signal.SIGCONT)
        return False

    until(caught, seconds=30, what="a worker inside its transaction")
    return worker


def test_p5_a_worker_that_is_stopped_inside_a_transaction_is_overcome(tmp_path: Path) -> None:
    """The others go on within a bounded time, and all that it held is done by them."""
    with appliance(tmp_path) as box:
        ids = box.submit("note", list(range(4_000)))
        page = TurnPage(box.paths.runtime)
        worker = caught_inside(box, page)
        began = SYSTEM.boot()
        assert box.command("submit", "note", "--payload", '"after"').returncode == 0
        assert SYSTEM.boot() - began < RESCUE_MS
        assert gone(worker)
        shown = box.ended(*ids, seconds=30)
        assert {each.state for each in shown} == {"done"}
        assert sum(each.failures for each in shown) <= 1
        page.close()


def test_p3_a_worker_that_is_stopped_over_its_limit_lands_nothing(tmp_path: Path) -> None:
    """It is ended though it stands still; another run finishes; going on changes nothing."""
    gate = Gate(tmp_path / "gate")
    with appliance(tmp_path) as box:
        (id_,) = box.submit("brief", [gate.payload(until=1, keep=True)])
        first = gate.calls(1)[0].pid
        stop(first)
        (shown,) = box.ended(id_)
        assert (shown.state, shown.attempt, shown.failures) == ("done", 2, 1)
        assert [event.cause for event in box.events(id_) if event.move == "retry"] == ["died.time_limit"]
        box.complete()
        before = rows(box), files(box)
        gate.open()
        with contextlib.suppress(ProcessLookupError):
            os.kill(first, signal.SIGCONT)
        until(lambda: gone(first), what="the end of the first")
        assert (rows(box), files(box)) == before
        assert box.moves(id_) == ["submit", "claim", "retry", "claim", "finish"]


def test_p3_a_late_attempt_of_a_job_changes_nothing(tmp_path: Path) -> None:
    """A worker stands still, is taken for dead, another one finishes: when it goes on, only an event says that it came late."""
    gate = Gate(tmp_path / "gate")
    with appliance(tmp_path) as box:
        (id_,) = box.submit("hold", [gate.payload(until=1, keep=True)])
        first = gate.calls(1)[0].pid
        holder = box.stands(id_, "leased").holder
        stop(first)
        free_as_if_dead(box, str(holder))
        (shown,) = box.ended(id_)
        assert (shown.attempt, shown.result) == (2, {"attempt": 2})
        assert nothing_lands(box, id_, first, gate) == ["finish"]


def test_p3_a_late_attempt_of_a_part_changes_nothing(tmp_path: Path) -> None:
    """The same for a part: the others and the fold go on without it, and the bytes are those of the second attempt."""
    gate = Gate(tmp_path / "gate")
    with appliance(tmp_path) as box:
        (id_,) = box.submit("slices", [gate.payload(parts=6, window=3, held=2, until=1)])
        until(lambda: any(call.ordinal == 2 for call in gate.began()), what="the call of the part")
        with box.ledger() as ledger:
            holder = ledger.read("SELECT holder FROM part WHERE job_id = ? AND ordinal = 2", (id_,))[0][0]
        first = int(holder.split("/")[1])
        stop(first)
        free_as_if_dead(box, holder)
        box.ended(id_)
        assert "finish" in nothing_lands(box, id_, first, gate)
        assert box.show(id_).failures == 0


def test_p3_a_late_holder_of_a_fold_changes_nothing(tmp_path: Path) -> None:
    """It wrote files of the same names as the one that concluded after it: each has its own, and those of the late one go."""
    gate, mark = Gate(tmp_path / "gate"), tmp_path / "mark"
    with appliance(tmp_path) as box:
        (id_,) = box.submit("slices", [gate.payload(parts=3, window=3, mark=str(mark))])
        until(mark.exists, what="the first conclusion")
        with box.ledger() as ledger:
            holder = ledger.read("SELECT holder FROM split WHERE job_id = ?", (id_,))[0][0]
        first = int(holder.split("/")[1])
        stop(first)
        free_as_if_dead(box, holder)
        box.ended(id_)
        assert nothing_lands(box, id_, first, gate) == ["fold"]
