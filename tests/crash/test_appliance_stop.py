"""A stop is bounded and burns nothing; a reload changes what changed; there is one supervisor."""

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
STOP_S = 2
BOUND_MS = 8_000  # the two seconds, the kills after them, and what a busy machine adds


def test_p15_a_stop_hands_back_what_does_not_end_in_time(tmp_path: Path) -> None:
    """In place and in a hand: no failure counted, exit code 0, in time; after the next start it goes on."""
    gate = Gate(tmp_path / "gate")
    with appliance(tmp_path, settings(stop_s=STOP_S)) as box:
        ids = [*box.submit("hold", [gate.payload(), gate.payload()]), *box.submit("locked.hold", [gate.payload()])]
        gate.calls(3)
        began = SYSTEM.boot()
        assert box.stop() == 0
        assert SYSTEM.boot() - began < BOUND_MS
        assert not box.members()
        shown = [box.show(id_) for id_ in ids]
        assert [(each.state, each.failures) for each in shown] == 3 * [("ready", 0)]
        assert {event.cause for id_ in ids for event in box.events(id_) if event.move == "release"} == {"stopped"}
        gate.open()
        box.start()
        assert [(each.state, each.attempt, each.failures) for each in box.ended(*ids)] == 3 * [("done", 2, 0)]


def test_p15_a_stop_waits_for_what_ends_in_time(tmp_path: Path) -> None:
    """It is handed in, at its first attempt; what was not begun waits unharmed."""
    gate = Gate(tmp_path / "gate")
    with appliance(tmp_path, settings(workers=1, stop_s=20)) as box:
        assert box.process is not None
        first, second = box.submit("hold", [gate.payload(), gate.payload()])
        gate.calls(1)
        box.process.send_signal(signal.SIGTERM)
        box.stands(second, "ready")
        gate.open()
        assert box.process.wait(10) == 0
        assert [(each.state, each.attempt) for each in (box.show(first), box.show(second))] == [("done", 1), ("ready", 0)]
        assert (box.paths.state / "stopped-cleanly").exists()


def test_p15_a_stop_with_a_frozen_worker_is_bounded_and_burns_nothing(tmp_path: Path) -> None:
    """It cannot hand anything back, so it is killed; its job counts no failure after the next start."""
    gate = Gate(tmp_path / "gate")
    with appliance(tmp_path, settings(stop_s=STOP_S)) as box:
        (id_,) = box.submit("hold", [gate.payload()])
        os.kill(gate.calls(1)[0].pid, signal.SIGSTOP)
        began = SYSTEM.boot()
        box.stop()
        assert SYSTEM.boot() - began < BOUND_MS
        assert not box.members()
        gate.open()
        box.start()
        (shown,) = box.ended(id_)
        assert (shown.state, shown.attempt, shown.failures) == ("done", 2, 0)


def test_p15_a_second_signal_ends_at_once(tmp_path: Path) -> None:
    """Somebody who presses Ctrl-C twice means it; still no failure is counted."""
    gate = Gate(tmp_path / "gate")
    with appliance(tmp_path, settings(stop_s=60)) as box:
        assert box.process is not None
        (id_,) = box.submit("hold", [gate.payload()])
        gate.calls(1)
        began = SYSTEM.boot()
        box.process.send_signal(signal.SIGINT)
        until(lambda: len(box.pids()) < 4, what="the beginning of the stop")
        box.process.send_signal(signal.SIGINT)
        box.process.wait(10)
        assert SYSTEM.boot() - began < BOUND_MS
        gate.open()
        box.start()
        (shown,) = box.ended(id_)
        assert (shown.state, shown.failures) == ("done", 0)


def stop_at(box: Appliance, wait_ms: int) -> int:
    """Start, and stop so long after; the exit code."""
    process = box.launch()
    end = SYSTEM.boot() + wait_ms
    until(lambda: SYSTEM.boot() >= end or process.poll() is not None)
    return box.stop()


@pytest.mark.parametrize("waits_ms", [(0, 60, 150, 250, 400), pytest.param(range(0, 3_000, 10), marks=pytest.mark.soak)])
def test_p15_a_stop_during_the_start_leaves_nothing(tmp_path: Path, waits_ms: tuple[int, ...]) -> None:
    """At whatever moment it comes: no process is left, and the next start is as any other."""
    with appliance(tmp_path, start=False) as box:
        for wait_ms in waits_ms:
            assert stop_at(box, wait_ms) in (0, -signal.SIGTERM), box.log()
            until(lambda: not box.members(), seconds=2, what="the end of all processes")
        box.start()
        assert box.ended(*box.submit("note", [1]))[0].state == "done"


def test_a_reload_changes_what_changed_and_charges_nobody(tmp_path: Path) -> None:
    """More workers, and a job that goes on meanwhile; the supervisor and its exit code stay."""
    gate = Gate(tmp_path / "gate")
    with appliance(tmp_path, settings(workers=1, stop_s=STOP_S)) as box:
        assert box.process is not None
        (id_,) = box.submit("hold", [gate.payload()])
        gate.calls(1)
        before = box.pids()
        box.settle(settings(workers=3, locked=2, stop_s=STOP_S))
        box.process.send_signal(signal.SIGHUP)
        wanted = {"steward", "worker-default-1", "worker-default-2", "worker-default-3", "worker-locked-1", "worker-locked-2"}
        until(
            lambda: set(box.pids()) == wanted and not set(before.values()) & set(box.pids().values()), what="the new plan at work"
        )
        gate.open()
        (shown,) = box.ended(id_)
        assert (shown.state, shown.failures) == ("done", 0)
        assert box.running()


SHOP = """
from appliance import job

@job("shop.price", version={version})
def price(context, payload):
    return {price}
"""


def test_a_reload_takes_the_new_code_of_a_module(tmp_path: Path) -> None:
    """No process of the appliance keeps the old one; a module that is broken then leaves its kinds out, and the rest at work."""
    shop = tmp_path / "shop"
    shop.mkdir()
    (shop / "prices.py").write_text(SHOP.format(version=1, price=1))
    with appliance(tmp_path, settings(modules=("tests.vendor_handlers", "prices"), stop_s=STOP_S), start=False) as box:
        box.start(PYTHONPATH=str(shop))
        assert box.process is not None
        assert box.ended(*box.submit("shop.price", [1]))[0].result == 1
        before = set(box.pids().values())
        (shop / "prices.py").write_text(SHOP.format(version=2, price=20_000))
        box.process.send_signal(signal.SIGHUP)
        until(lambda: not before & set(box.complete().values()), what="new processes alone")
        (shown,) = box.ended(*box.submit("shop.price", [1]))
        assert (shown.version, shown.result) == (2, 20_000)
        before = set(box.pids().values())
        (shop / "prices.py").write_text("this is broken from here on")
        box.process.send_signal(signal.SIGHUP)
        until(lambda: not before & set(box.complete().values()), what="new processes alone")
        (waits,) = box.submit("shop.price", [2])
        assert box.ended(*box.submit("note", [1]))[0].state == "done"
        assert box.show(waits).state == "ready"


@pytest.mark.soak
def test_a_steward_that_stands_still_is_replaced(tmp_path: Path) -> None:
    """It beats no more, so it is ended, and the next one frees what died meanwhile."""
    gate = Gate(tmp_path / "gate")
    with appliance(tmp_path) as box:
        steward = box.pids()["steward"]
        (id_,) = box.submit("hold", [gate.payload()])
        worker = gate.calls(1)[0].pid
        os.kill(steward, signal.SIGSTOP)
        os.kill(worker, signal.SIGKILL)
        until(lambda: gone(steward), seconds=40, what="the end of the steward")
        gate.calls(2)
        gate.open()
        (shown,) = box.ended(id_)
        assert (shown.state, shown.attempt, shown.failures) == ("done", 2, 1)


def test_a_reload_with_bad_settings_changes_nothing(tmp_path: Path) -> None:
    """The old plan goes on, and the log names the key."""
    with appliance(tmp_path) as box:
        assert box.process is not None
        before = box.pids()
        box.settle('[pools.default]\nworkers = "many"\n')
        box.process.send_signal(signal.SIGHUP)
        until(lambda: "pools.default" in box.log(), what="the finding")
        box.settle(settings())
        assert box.ended(*box.submit("note", [1]))[0].state == "done"
        assert box.pids() == before


def test_a_second_supervisor_is_refused(tmp_path: Path) -> None:
    """With what is the matter and what to do, and the first one goes on."""
    with appliance(tmp_path) as box:
        before = box.pids()
        refused = box.command("run")
        assert refused.returncode == 75
        assert "another supervisor" in refused.stderr
        assert "stop it first" in refused.stderr
        assert box.pids() == before


def test_p15_a_hand_is_gone_with_its_worker(tmp_path: Path) -> None:
    """A worker that is killed takes its hand along; the next one has its own."""
    gate = Gate(tmp_path / "gate")
    with appliance(tmp_path) as box:
        (id_,) = box.submit("locked.hold", [gate.payload()])
        hand = gate.calls(1)[0].pid
        worker = box.pids()["worker-locked-1"]
        assert hands(worker) == [hand]
        os.kill(worker, signal.SIGKILL)
        until(lambda: gone(hand), seconds=2, what="the end of the hand")
        gate.calls(2)
        gate.open()
        (shown,) = box.ended(id_)
        assert (shown.state, shown.attempt, shown.failures) == ("done", 2, 1)
