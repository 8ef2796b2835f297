"""Processes of an appliance die by kill -9: what was running is charged, the rest loses nothing, and all goes on."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from appliance.clock import SYSTEM
from tests.crash.appliance_stage import Appliance, appliance, hands, settings
from tests.crash.facts import gone, until
from tests.crash.gates import Gate

pytestmark = pytest.mark.crash
AGAIN_MS = 5_000


def term(box: Appliance) -> int:
    """The number of the steward's term."""
    with box.ledger() as ledger:
        rows = ledger.read("SELECT number FROM term WHERE name = 'steward'")
    number: int = rows[0][0]
    return number


def kill(pid: int) -> None:
    """As the kernel does it when memory is short; it is dead when this returns."""
    os.kill(pid, signal.SIGKILL)
    until(lambda: gone(pid), what="the death")


def test_p5_a_job_whose_worker_was_killed_starts_again_while_another_is_free(tmp_path: Path) -> None:
    """Within the five seconds that are allowed here; it is charged one failure, by the steward, with the cause."""
    gate = Gate(tmp_path / "gate")
    with appliance(tmp_path) as box:
        (id_,) = box.submit("hold", [gate.payload()])
        first = gate.calls(1)[0]
        killed = SYSTEM.boot()
        kill(first.pid)
        second = gate.calls(2)[1]
        assert second.boot_ms - killed.ms < AGAIN_MS
        assert (second.attempt, second.pid != first.pid) == (2, True)
        gate.open()
        (shown,) = box.ended(id_)
        assert (shown.state, shown.attempt, shown.failures, shown.result) == ("done", 2, 1, {"attempt": 2})
        events = [(event.move, event.actor, event.cause) for event in box.events(id_)]
        assert ("retry", "steward", "died.signal") in events
        assert [move for move, _, _ in events] == ["submit", "claim", "retry", "claim", "finish"]


def kill_in_a_batch(box: Appliance, gate: Gate) -> int:
    """Kill a worker at the first of 21 jobs; how often the most claimed one of the others was claimed."""
    box.ended(*box.submit("hold", [{"until": 0, "n": number} for number in range(60)]))  # measured to be short
    first, *others = box.submit("hold", [gate.payload(), *({"until": 0, "n": number} for number in range(20))])
    kill(gate.calls(1)[0].pid)
    gate.open()
    shown = box.ended(first, *others)
    assert [each.failures for each in shown] == [1] + 20 * [0]
    assert [each.starts for each in shown] == 21 * [0]
    assert all(set(box.moves(id_)) <= {"submit", "claim", "release", "finish"} for id_ in others)
    return max(box.moves(id_).count("claim") for id_ in others)


def test_p5_only_the_running_job_of_a_batch_is_charged(tmp_path: Path) -> None:
    """What was claimed with it and not begun goes back as it was: no failure, no start."""
    with appliance(tmp_path, settings(workers=1)) as box:
        claims = [kill_in_a_batch(box, Gate(tmp_path / f"gate{number}")) for number in range(3)]
        assert max(claims) == 2, "no kill came upon a batch"


def test_p13_a_killed_hand_costs_one_attempt_of_its_job(tmp_path: Path) -> None:
    """Its worker lives on and takes another hand."""
    gate = Gate(tmp_path / "gate")
    with appliance(tmp_path) as box:
        before = box.pids()
        (id_,) = box.submit("locked.hold", [gate.payload()])
        hand = gate.calls(1)[0].pid
        assert hands(before["worker-locked-1"]) == [hand]
        kill(hand)
        gate.calls(2)
        gate.open()
        (shown,) = box.ended(id_)
        assert (shown.state, shown.attempt, shown.failures) == ("done", 2, 1)
        assert [event.cause for event in box.events(id_) if event.move == "retry"] == ["died.signal"]
        assert box.pids() == before


def test_p4_a_killed_steward_is_followed_by_one_of_the_next_term(tmp_path: Path) -> None:
    """What died while there was none is freed by the next, with the right cause."""
    gate = Gate(tmp_path / "gate")
    with appliance(tmp_path) as box:
        before = term(box)
        (id_,) = box.submit("hold", [gate.payload()])
        first = gate.calls(1)[0]
        kill(box.pids()["steward"])
        kill(first.pid)
        gate.calls(2)
        gate.open()
        (shown,) = box.ended(id_)
        assert (shown.state, shown.attempt, shown.failures) == ("done", 2, 1)
        assert term(box) == before + 1
        assert box.command("status").returncode == 0


def test_p15_a_killed_supervisor_takes_everybody_with_it_and_loses_nothing(tmp_path: Path) -> None:
    """Workers, a hand and the steward are gone within two seconds; what they held goes on after the start, uncharged."""
    gate = Gate(tmp_path / "gate")
    with appliance(tmp_path) as box:
        held = [*box.submit("hold", [gate.payload(), gate.payload()]), *box.submit("locked.hold", [gate.payload()])]
        gate.calls(3)
        waiting = box.submit("note", list(range(50)))
        members = box.members()
        assert len(members) == 6  # supervisor, steward, two workers, one that has a hand
        box.stop(signal.SIGKILL)
        until(lambda: not box.members(), seconds=2, what="the end of all processes")
        assert all(gone(pid) for pid in members)
        gate.open()
        box.start()
        shown = box.ended(*held, *waiting)
        assert {each.state for each in shown} == {"done"}
        assert {each.failures for each in shown} == {0}
        assert [each.attempt for each in shown] == 3 * [2] + 50 * [1]


def test_p1_what_was_acknowledged_before_a_kill_is_there_after_it(tmp_path: Path) -> None:
    """The supervisor is killed while commands hand in work: each printed id is a job that gets done once."""
    lines = "".join(f'{{"n": {number}}}\n' for number in range(3_000))
    with appliance(tmp_path) as box:
        for _ in range(3):
            command = box.begin("submit", "note", "--from", "-", "--json", "--again")
            assert command.stdin is not None
            assert command.stdout is not None
            command.stdin.write(lines.encode())
            command.stdin.flush()
            command.stdout.readline()
            box.stop(signal.SIGKILL)
            command.communicate(timeout=30)
            box.start()
        with box.ledger() as ledger:
            count = "SELECT count(*), sum(state = 'done'), (SELECT count(*) FROM result), sum(failures) FROM job"
            until(lambda: ledger.read(count)[0][0] == ledger.read(count)[0][1], seconds=40, what="the end of all jobs")
            assert ledger.read(count) == [(9_000, 9_000, 9_000, 0)]


def test_p12_the_dead_leave_nothing_in_memory(tmp_path: Path) -> None:
    """Neither a name, nor a page, nor an ear, nor a scratch folder: a box that runs for years has room for the living."""
    with appliance(tmp_path) as box:
        for _ in range(3):
            kill(box.complete()["worker-default-1"])
            until(lambda: "worker-default-1" in box.pids(), what="the successor")
        box.submit("note", [1])
        living = box.complete()
        box.ended(*box.submit("note", [2]))
        runtime = box.paths.runtime
        workers = len(living) - 1
        until(lambda: len(list((runtime / "pages").iterdir())) == workers, what="the removal of pages")
        until(lambda: len(list((runtime / "wake").iterdir())) == len(living), what="the removal of ears")
        until(lambda: len(list((box.paths.state / "scratch").iterdir())) == workers, what="the removal of scratch")
        assert set(box.json("status")[0]["processes"]) == set(living)
        box.stop()
        assert box.json("status")[0]["processes"] == {}


def test_p14_storage_that_refuses_a_file_costs_its_job_no_failure(tmp_path: Path) -> None:
    """The worker ends and another comes, until the file can be kept."""
    gate = Gate(tmp_path / "gate")
    with appliance(tmp_path, start=False) as box:
        blocked = box.paths.state / "files"
        blocked.parent.mkdir(mode=0o700)
        blocked.touch()
        box.start()
        (id_,) = box.submit("hold", [{**gate.payload(), "until": 0, "keep": True}])
        gate.calls(2)
        blocked.unlink()
        (shown,) = box.ended(id_)
        assert (shown.state, shown.failures) == ("done", 0)
        assert {event.cause for event in box.events(id_) if event.move == "release"} == {"storage"}


def test_p13_work_after_which_its_process_dies_each_time_comes_before_a_person(tmp_path: Path) -> None:
    """Nobody can say of what the process died between two pieces of work, so each that it held counts a start."""
    with appliance(tmp_path, settings(workers=1)) as box:
        (id_,) = box.submit("parting", [None])
        (shown,) = box.ended(id_, seconds=60)
        assert (shown.state, shown.failures, shown.starts) == ("unclear", 0, 10)
        assert [each.state for each in box.ended(*box.submit("note", [1]))] == ["done"]
