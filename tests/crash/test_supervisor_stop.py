"""A stop is bounded, and nothing is left of it."""

from __future__ import annotations

import json
import os
import random
import signal
import time
from pathlib import Path

import pytest

from tests.crash.conftest import Stage
from tests.crash.facts import gone, until
from tests.crash.troupe import Troupe, descendants

pytestmark = pytest.mark.crash


def among(pid: int, mask: str, number: signal.Signals) -> bool:
    """Whether a signal is in one of the masks that the kernel shows of a process (proc_pid_status(5))."""
    lines = Path(f"/proc/{pid}/status").read_text(encoding="ascii").splitlines()
    return bool(int(next(line for line in lines if line.startswith(mask)).split()[1], 16) >> (number - 1) & 1)


def test_one_slow_child_does_not_delay_the_stop_of_the_others(stage: Stage) -> None:
    """All are asked at once; the slow one is killed when its own time is over."""
    troupe = stage(("slow", "stubborn"), ("a", "steady"), ("b", "steady"))
    slow, others = troupe.up("slow"), [troupe.up("a"), troupe.up("b")]
    asked = time.monotonic()
    troupe.send(signal.SIGTERM)
    until(lambda: all(map(gone, others)), seconds=1.8, what="end of the quick ones")
    assert not gone(slow)
    assert troupe.process.wait(10) == 0
    assert 2.0 <= time.monotonic() - asked < 4.0
    assert gone(slow)
    assert {death["cause"] for death in troupe.deaths()} == {"asked"}


def test_the_steward_leaves_last_and_is_told_of_every_death_before(stage: Stage) -> None:
    """Somebody must be there to free what a worker had to leave."""
    troupe = stage(("s", "steward"), ("slow", "stubborn"), ("a", "steady"))
    steward, others = troupe.up("s"), [troupe.up("slow"), troupe.up("a")]
    troupe.send(signal.SIGTERM)
    assert troupe.process.wait(10) == 0
    told = (troupe.folder / f"deaths.{steward}").read_text().splitlines()
    assert {json.loads(line)["pid"] for line in told} == set(others)
    assert [death["pid"] for death in troupe.deaths()][-1] == steward
    assert {death["cause"] for death in troupe.deaths()} == {"asked"}


def test_a_second_signal_ends_everything_at_once(stage: Stage) -> None:
    """Whoever presses Ctrl-C twice does not want to wait."""
    troupe = stage(("slow", "stubborn"))
    slow = troupe.up("slow")
    troupe.send(signal.SIGINT)
    until(lambda: among(slow, "ShdPnd", signal.SIGTERM), what="the question to the child")
    asked = time.monotonic()
    troupe.send(signal.SIGTERM)
    assert troupe.process.wait(5) == 0
    assert time.monotonic() - asked < 1.8
    assert gone(slow)


def test_a_stop_leaves_no_descendant_in_whatever_group(stage: Stage) -> None:
    """Also those that have left their parent's group and its session."""
    troupe = stage(("m", "mother"))
    troupe.up("m")
    until(lambda: all((troupe.folder / f"{which}.up").exists() for which in ("near", "far")), what="grandchildren")
    below = descendants(troupe.process.pid)
    assert len(below) == 3
    troupe.send(signal.SIGTERM)
    assert troupe.process.wait(10) == 0
    assert all(map(gone, below))


def test_nothing_of_ours_is_left_two_seconds_after_the_supervisor_was_killed(stage: Stage) -> None:
    """The kernel sees to it, as nobody else is left to."""
    troupe = stage(("a", "steady"), ("slow", "stubborn"), ("s", "steward"))
    pids = [troupe.up(name) for name in ("a", "slow", "s")]
    troupe.process.kill()
    until(lambda: all(map(gone, pids)), seconds=2, what="end of the children")


def hand_of(troupe: Troupe) -> int:
    """The pid of the hand that is at work."""
    path = troupe.folder / "hand.pid"
    return int(until(lambda: path.exists() and path.read_text(), what="a hand at work"))


def test_a_hand_does_not_outlive_its_worker_or_the_supervisor(stage: Stage) -> None:
    """Killed, the worker cannot end its hand any more; the kernel does."""
    troupe = stage(("w", "maker"))
    worker, hand = troupe.up("w"), hand_of(troupe)
    os.kill(worker, signal.SIGKILL)
    until(lambda: gone(hand), seconds=2, what="end of the hand")
    (troupe.folder / "hand.pid").unlink()
    worker, hand = troupe.up("w", besides=worker), hand_of(troupe)
    troupe.process.kill()
    until(lambda: gone(hand) and gone(worker), seconds=2, what="end of worker and hand")


def test_a_stop_interrupts_a_hand_at_work(stage: Stage) -> None:
    """The worker's wake-up ends the call, and the worker ends in time."""
    troupe = stage(("w", "maker"))
    worker, hand = troupe.up("w"), hand_of(troupe)
    asked = time.monotonic()
    troupe.send(signal.SIGTERM)
    assert troupe.process.wait(10) == 0
    assert time.monotonic() - asked < 1.8
    assert gone(worker)
    assert gone(hand)


def test_a_stop_at_any_moment_of_the_start_is_obeyed(stage: Stage) -> None:
    """A TERM that lands in a child just forked, before its handlers stand, must not be swallowed."""
    generator = random.Random(1)
    for _ in range(12):
        stop_early(stage(*((f"w{number}", "steady") for number in range(4))), generator.uniform(0, 0.08))


def stop_early(troupe: Troupe, seconds: float) -> None:
    """Stop a supervisor so long after it can hear it."""
    until(lambda: among(troupe.process.pid, "SigCgt", signal.SIGTERM), what="handlers of the supervisor")
    moment = time.monotonic() + seconds
    until(lambda: time.monotonic() > moment, what="the moment")
    troupe.send(signal.SIGTERM)
    assert troupe.process.wait(10) == 0
    assert time.monotonic() - moment < 1.8
    assert [pid for number in range(4) for pid in troupe.living(f"w{number}")] == []


def test_a_child_terminated_by_a_stranger_is_started_again(stage: Stage) -> None:
    """Somebody's ``kill`` is obeyed by the child, and is no stop of the appliance."""
    troupe = stage(("a", "steady"))
    first = troupe.up("a")
    os.kill(first, signal.SIGTERM)
    assert troupe.up("a", besides=first)
    assert troupe.death_of(first)["cause"] == "exited"
