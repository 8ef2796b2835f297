"""What a supervisor does with children that live, die, hang and crash."""

from __future__ import annotations

import json
import os
import signal
import time
from pathlib import Path

import pytest

from appliance.site import boot
from tests.crash.conftest import Stage
from tests.crash.facts import gone, times_woken, until

pytestmark = pytest.mark.crash


def test_a_killed_child_is_started_again_and_the_others_do_not_notice(stage: Stage) -> None:
    """One dead child is replaced alone."""
    troupe = stage(("a", "steady"), ("b", "steady"))
    first, other = troupe.up("a"), troupe.up("b")
    os.kill(first, signal.SIGKILL)
    assert troupe.up("a", besides=first) != first
    assert troupe.living("b") == [other]
    assert troupe.death_of(first)["cause"] == "signal"


@pytest.mark.parametrize(
    ("kind", "code", "cause"), [("crasher", 3, "exited"), ("raiser", 70, "exited"), ("wordless", 70, "exited")]
)
def test_a_child_that_ends_by_itself_is_started_again(stage: Stage, kind: str, code: int, cause: str) -> None:
    """Its code says what it was; an exception never reaches the supervisor's own stack."""
    troupe = stage(("a", kind))
    until(lambda: len(troupe.seen("a")) >= 3, what="three starts")
    death = troupe.death_of(troupe.seen("a")[0])
    assert (death["code"], death["cause"]) == (code, cause)


def test_a_crash_loop_degrades_its_own_kind_and_keeps_nobody_from_working(stage: Stage) -> None:
    """The seventh start comes at the slow pace, the neighbour lives on, and a stop is obeyed within a second all the while."""
    troupe = stage(("bad", "crasher"), ("good", "steady"))
    good = troupe.up("good")
    until(lambda: any(death["degraded"] for death in troupe.deaths()), what="degraded")
    assert [death["degraded"] for death in troupe.deaths()][:6] == [False] * 5 + [True]
    assert troupe.deaths()[5]["after_ms"] >= 2_000
    assert troupe.living("good") == [good]
    asked = time.monotonic()
    troupe.send(signal.SIGTERM)
    assert troupe.process.wait(5) == 0
    assert time.monotonic() - asked < 1.0


def test_a_new_supervisor_remembers_the_deaths_of_the_last_one(stage: Stage) -> None:
    """A supervisor that is restarted itself must not let a crash loop start at full speed again."""
    troupe = stage(("bad", "crasher"))
    until(lambda: len(troupe.deaths()) >= 6, what="six deaths")
    troupe.process.kill()
    troupe.process.wait()
    before = len(troupe.deaths())
    again = stage()
    until(lambda: len(again.deaths()) > before, what="one more death")
    assert again.deaths()[before]["degraded"]


@pytest.mark.parametrize("stopped", [True, False])
def test_a_child_that_shows_no_life_is_ended_and_started_again(stage: Stage, stopped: bool) -> None:  # noqa: FBT001 - a parameter
    """Held still by a signal it cannot even hear TERM, so it is killed; in time the next one beats."""
    troupe = stage(("a", "steady"), ("b", "steady")) if stopped else stage(("a", "steady"))
    first = troupe.up("a")
    os.kill(first, signal.SIGSTOP)
    assert troupe.up("a", besides=first)
    assert troupe.death_of(first)["cause"] == "hung"


def test_what_a_dead_child_had_started_is_killed_with_it(stage: Stage) -> None:
    """Its group at once; and who left the group becomes an orphan of the supervisor, and is found."""
    troupe = stage(("m", "mother"))
    first = troupe.up("m")
    pids = [int((troupe.folder / f"{which}.pid").read_text()) for which in ("near", "far")]
    until(lambda: all((troupe.folder / f"{which}.up").exists() for which in ("near", "far")), what="grandchildren")
    os.kill(first, signal.SIGKILL)
    until(lambda: all(map(gone, pids)), seconds=2, what="end of the grandchildren")


def test_the_steward_is_told_of_each_death_and_a_new_one_of_the_last(stage: Stage) -> None:
    """Who waits for a child knows why it died; nobody else can."""
    troupe = stage(("s", "steward"), ("a", "steady"))
    steward, first = troupe.up("s"), troupe.up("a")
    os.kill(first, signal.SIGSEGV)

    def told(pid: int) -> list[dict[str, object]]:
        path = troupe.folder / f"deaths.{pid}"
        return [json.loads(line) for line in path.read_bytes().split(b"\n")[:-1]] if path.exists() else []

    death = until(lambda: told(steward), what="a line")[0]
    assert (death["pid"], death["cause"], death["code"]) == (first, "signal", -signal.SIGSEGV)
    assert death["start_ticks"] == int((troupe.folder / f"a.{first}").read_text())
    os.kill(steward, signal.SIGKILL)
    successor = troupe.up("s", besides=steward)
    assert [line["pid"] for line in until(lambda: told(successor), what="the replay")] == [first, steward]


def test_a_kill_that_the_steward_asks_for_has_the_cause_it_names(stage: Stage) -> None:
    """A worker over its time limit is not taken for one that crashed."""
    troupe = stage(("s", "steward"), ("a", "stubborn"))
    troupe.up("s")
    slow = troupe.up("a")
    (troupe.folder / f"kill.{slow}").touch()
    assert troupe.death_of(slow)["cause"] == "time_limit"


def test_a_kill_of_somebody_elses_process_is_refused(stage: Stage) -> None:
    """The steward names a pid; if it is none of the children, nothing is killed."""
    troupe, stranger = stage(("s", "steward"), ("a", "steady")), os.fork()
    if stranger == 0:
        signal.pause()
    try:
        troupe.up("s")
        (troupe.folder / f"kill.{stranger}").touch()
        until(lambda: "no child" in (troupe.folder / "log").read_text(), what="the refusal")
        assert not gone(stranger)
    finally:
        os.kill(stranger, signal.SIGKILL)
        os.waitpid(stranger, 0)


@pytest.mark.parametrize("own", [True, False])
def test_a_holder_frozen_inside_the_turnstile_is_killed(stage: Stage, own: bool) -> None:  # noqa: FBT001 - a parameter
    """All writers wait behind it: it is killed though it is stopped, and though it is nobody's child."""
    troupe = stage(("a", "steward"))
    child, stranger = troupe.up("a"), 0
    if not own:
        stranger = os.fork()
        if stranger == 0:
            signal.pause()
    victim = child if own else stranger
    os.kill(victim, signal.SIGSTOP)
    now = time.clock_gettime_ns(time.CLOCK_BOOTTIME) // 1_000_000
    (troupe.folder / "held.new").write_text(f"{victim} {boot.start_ticks(victim)} 7 {now}")
    (troupe.folder / "held.new").replace(troupe.folder / "held")
    until(lambda: gone(victim), what="end of the holder")
    assert time.clock_gettime_ns(time.CLOCK_BOOTTIME) // 1_000_000 - now >= 500
    if own:
        assert troupe.death_of(victim)["cause"] == "hung"
    else:
        os.waitpid(stranger, 0)
        assert not gone(child)


def test_an_idle_supervisor_writes_nothing_and_hardly_wakes(stage: Stage) -> None:
    """It waits for what is next due, and the file of deaths is written for deaths only."""
    troupe = stage(("s", "stubborn"))
    troupe.up("s")
    pid = troupe.process.pid

    def io() -> bytes:
        return Path(f"/proc/{pid}/io").read_bytes()

    until(lambda: boot.stat(pid) is not None and "plan" in (troupe.folder / "log").read_text(), what="the plan")
    written, woken, since = io().split(b"write_bytes: ")[1].split()[0], times_woken(pid), time.monotonic()
    until(lambda: time.monotonic() - since > 3, what="three seconds")
    assert io().split(b"write_bytes: ")[1].split()[0] == written
    assert times_woken(pid) - woken <= 8
