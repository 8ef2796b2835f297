"""Plans: at start, on SIGHUP, broken, and what systemd hears of it."""

from __future__ import annotations

import json
import os
import signal
import socket
import time
from pathlib import Path

import pytest

from appliance.site import boot
from tests.crash.conftest import Stage
from tests.crash.facts import gone, times_woken, until

pytestmark = pytest.mark.crash


def log_of(folder: Path) -> str:
    """What the supervisor logged."""
    return (folder / "log").read_text()


def test_a_prepare_that_finds_something_ends_the_start_with_its_code(stage: Stage, tmp_path: Path) -> None:
    """Nothing is started, and the finding has its remedy."""
    (tmp_path / "plan.json").write_text(json.dumps({"finding": "there is no pool"}))
    assert stage().process.wait(10) == 78
    assert "there is no pool" in log_of(tmp_path)
    assert "correct the named key" in log_of(tmp_path)


@pytest.mark.parametrize("plan", ['{"crash": 1}', "{}", '{"children": [{"name": "a", "kind": "unheard"}]}', "no JSON"])
def test_a_prepare_that_makes_no_plan_ends_the_start(stage: Stage, tmp_path: Path, plan: str) -> None:
    """A crash, rubbish and unknown kinds alike."""
    (tmp_path / "plan.json").write_text(plan)
    assert stage().process.wait(10) == 70


def test_a_broken_prepare_on_reload_leaves_everything_as_it_is(stage: Stage) -> None:
    """The old plan goes on, and the finding is logged."""
    troupe = stage(("a", "steady"))
    first = troupe.up("a")
    (troupe.folder / "plan.json").write_text(json.dumps({"finding": "there is no pool"}))
    troupe.send(signal.SIGHUP)
    until(lambda: "there is no pool" in log_of(troupe.folder), what="the finding")
    assert troupe.living("a") == [first]
    troupe.plan(("a", "steady"))
    troupe.send(signal.SIGHUP)
    assert troupe.up("a", besides=first)


def test_a_reload_makes_every_child_anew_stops_what_vanished_and_starts_what_is_new(stage: Stage) -> None:
    """The code of a handler may have changed, so nobody keeps the old one."""
    troupe = stage(("a", "steady"), ("b", "steady"), ("old", "steady"))
    before = {name: troupe.up(name) for name in ("a", "b", "old")}
    troupe.plan(("a", "steady"), ("b", "steady"), ("new", "steady"))
    troupe.send(signal.SIGHUP)
    troupe.up("new")
    for name in ("a", "b"):
        troupe.up(name, besides=before[name])
    until(lambda: all(map(gone, before.values())), what="end of the old ones")
    assert troupe.living("old") == []
    assert {death["cause"] for death in troupe.deaths()} == {"asked"}


def test_a_reload_makes_children_anew_one_after_another(stage: Stage) -> None:
    """At no time is more than one of them away."""
    names = [f"w{number}" for number in range(4)]
    troupe = stage(*((name, "steady") for name in names))
    before = {name: troupe.up(name) for name in names}
    troupe.send(signal.SIGHUP)
    fewest = 4

    def renewed() -> bool:
        nonlocal fewest
        living = [name for name in names if troupe.living(name)]
        fewest = min(fewest, len(living))
        return all(set(troupe.living(name)) - {before[name]} for name in names)

    until(renewed, what="four new ones")
    assert fewest >= 3


def test_a_child_whose_new_code_does_not_start_holds_the_reload_back(stage: Stage) -> None:
    """What still works goes on with the old code, and the next reload mends it."""
    troupe = stage(("a", "steady"), ("b", "steady"))
    first_a, first_b = troupe.up("a"), troupe.up("b")
    troupe.plan(("a", "crasher"), ("b", "steady"))
    troupe.send(signal.SIGHUP)
    until(lambda: len(troupe.deaths()) >= 4, what="crashes")
    assert gone(first_a)
    assert troupe.living("b") == [first_b]
    troupe.plan(("a", "steady"), ("b", "steady"))
    troupe.send(signal.SIGHUP)
    assert troupe.up("b", besides=first_b)
    assert troupe.up("a", besides=first_a)


def test_systemd_hears_ready_only_when_all_are_at_work_and_alive_while_they_beat(stage: Stage, tmp_path: Path) -> None:
    """Ready, alive again and again, the sentence with the state, stopping."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as ear:
        address = str(tmp_path / "n")
        ear.bind(address)
        ear.settimeout(10)
        troupe = stage(("a", "steady"), ("b", "steady"), address=address)
        heard = []
        while "READY=1" not in heard:
            heard.append(ear.recv(4096).decode())
        assert troupe.living("a")
        assert troupe.living("b")
        for _ in range(3):
            while ear.recv(4096).decode() != "WATCHDOG=1":
                pass
        troupe.send(signal.SIGTERM)
        while ear.recv(4096).decode() != "STOPPING=1":
            pass
        assert any(line.startswith("EXTEND_TIMEOUT_USEC=") for line in heard)
        assert troupe.process.wait(10) == 0


def test_a_start_with_one_broken_kind_is_ready_once_that_kind_is_known_to_be_degraded(stage: Stage, tmp_path: Path) -> None:
    """It is said, and it does not keep the service manager from calling the rest started."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as ear:
        address = str(tmp_path / "n")
        ear.bind(address)
        ear.settimeout(10)
        stage(("a", "steady"), ("bad", "crasher"), address=address)
        heard: list[str] = []
        while "READY=1" not in heard or "STATUS=1 of 2 children up; degraded: crasher" not in heard:
            heard.append(ear.recv(4096).decode())
    assert heard.count("READY=1") == 1


def test_a_stop_during_prepare_is_obeyed(stage: Stage, tmp_path: Path) -> None:
    """A reload that is stopped does not start anything any more."""
    os.mkfifo(tmp_path / "plan.json")
    troupe = stage()
    until(lambda: Path(f"/proc/{troupe.process.pid}/task/{troupe.process.pid}/children").read_text(), what="prepare")
    asked = time.monotonic()
    troupe.send(signal.SIGTERM)
    assert troupe.process.wait(10) == 0
    assert time.monotonic() - asked < 5


def test_a_prepare_that_holds_the_turnstile_for_long_is_left_alone(stage: Stage, tmp_path: Path) -> None:
    """A migration may take longer than any transaction of a worker; it has a limit of its own."""
    os.mkfifo(tmp_path / "plan.json")
    troupe = stage()
    own = Path(f"/proc/{troupe.process.pid}/task/{troupe.process.pid}/children")
    pid = int(until(own.read_text, what="prepare"))
    began = time.clock_gettime_ns(time.CLOCK_BOOTTIME) // 1_000_000
    (tmp_path / "held.new").write_text(f"{pid} {boot.start_ticks(pid)} 7 {began - 60_000}")
    (tmp_path / "held.new").replace(tmp_path / "held")
    before = times_woken(troupe.process.pid)
    until(lambda: times_woken(troupe.process.pid) >= before + 3, what="three passes that saw it")
    assert not gone(pid)
    with (tmp_path / "plan.json").open("w") as file:
        file.write(json.dumps({"children": []}))
    until(lambda: "plan" in log_of(tmp_path), what="the plan")
