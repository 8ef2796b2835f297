"""The life of a child, and what a silent one is worth: pure, by the clock of the test."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from appliance import limits
from appliance.clock import BootInstant
from appliance.runtime.supervision import children as table
from appliance.runtime.supervision.children import MOVES, Child, State, Step
from appliance.runtime.supervision.program import ChildPlan, Kind
from appliance.runtime.supervision.reports import recovered, started, summary
from appliance.runtime.supervision.rescue import Held, overdue
from appliance.runtime.supervision.starvation import patience
from appliance.site.pressure import Pressure, average, count

BEATS = Kind(name="steady", main=lambda _seat: 0, beats=True)
SILENT = Kind(name="worker", main=lambda _seat: 0)
NOW = BootInstant(1_000_000)


def child(
    state: State, *, name: str = "a", kind: Kind = BEATS, generation: int = 1, proven: int = 0, heard: BootInstant = NOW
) -> Child:
    """A child in a state since now."""
    entry = ChildPlan(name=name, kind=kind.name)
    made = table.new(entry, kind, generation, NOW)
    return replace(made, state=state, proven=proven, heard=heard, wait_ms=500)


@pytest.mark.parametrize(
    ("state", "step", "after_ms"),
    [
        (State.WAITING, Step.START, 500),
        (State.STARTING, Step.TERMINATE, limits.CHILD_START_MS_MAX),
        (State.UP, Step.DUMP, limits.BEAT_MISSED_MS // 2),
        (State.LEAVING, Step.KILL, 500),
    ],
)
def test_each_state_has_one_next_step_by_the_clock(state: State, step: Step, after_ms: int) -> None:
    """The table says what, and after how long."""
    due = table.next_due(child(state))
    assert due is not None
    assert (due.step, due.at) == (step, NOW + after_ms)


def test_a_late_child_is_dumped_once_and_then_ended() -> None:
    """Three steps: late, over the limit, dead."""
    late = table.moved(child(State.UP), Step.DUMP, NOW + limits.BEAT_MISSED_MS // 2)
    due = table.next_due(late)
    assert due is not None
    assert (due.step, due.at) == (Step.TERMINATE, NOW + limits.BEAT_MISSED_MS)
    heard_again = table.next_due(replace(late, heard=NOW + limits.BEAT_MISSED_MS))
    assert heard_again is not None
    assert heard_again.step is Step.DUMP


def test_a_killed_child_and_one_that_need_not_beat_wait_for_nothing() -> None:
    """Only its death, or its own word, moves it."""
    assert table.next_due(child(State.ENDING)) is None
    assert table.next_due(child(State.UP, kind=SILENT)) is None


def test_every_state_has_an_exit_and_every_process_can_be_killed_and_reaped() -> None:
    """Nobody is stuck, and whoever has a process can lose it at any moment."""
    assert {state for state, _ in MOVES} == set(State)
    for state in set(State) - {State.WAITING}:
        assert MOVES[state, Step.REAP] is State.WAITING
        assert state is State.ENDING or MOVES[state, Step.KILL] is State.ENDING


def test_a_step_that_the_table_does_not_have_is_refused() -> None:
    """A child that is not there cannot be killed."""
    for state, step in set(product(State, Step)) - set(MOVES):
        with pytest.raises(KeyError):
            table.moved(child(state), step, NOW)


def test_children_are_made_anew_one_at_a_time() -> None:
    """The second goes only when the first is back."""
    first, second = child(State.UP, name="a", proven=1), child(State.UP, name="b", proven=1)
    assert table.next_to_recycle([first, second], 2) == first
    leaving = replace(first, state=State.LEAVING)
    assert table.next_to_recycle([leaving, second], 2) is None
    starting = child(State.STARTING, name="a", generation=2, proven=1)
    assert table.next_to_recycle([starting, second], 2) is None
    back = table.moved(starting, Step.READY, NOW)
    assert table.next_to_recycle([back, second], 2) == second


def test_a_child_that_was_ill_before_the_reload_does_not_hold_it_back() -> None:
    """Else one broken kind would keep all others on old code for ever."""
    ill, well = child(State.WAITING, name="a", generation=3, proven=1), child(State.UP, name="b", generation=2, proven=2)
    assert table.next_to_recycle([ill, well], 3) == well


@given(st.booleans(), st.booleans(), st.integers(0, 10**9))
def test_starvation_spares_only_those_that_could_run_and_not_for_ever(starved: bool, stopped: bool, silent_ms: int) -> None:  # noqa: FBT001 - drawn
    """A process that is held still is judged on any box, and no box is starved for longer than the bound."""
    assert patience(starved=starved, stopped=stopped, silent_ms=silent_ms) == (
        starved and not stopped and silent_ms < limits.STARVED_MS_MAX
    )


@pytest.mark.parametrize(
    ("pressure", "starved"),
    [(Pressure(), False), (Pressure(cpu=95.0), True), (Pressure(io=70.0), True), (Pressure(memory=50.0), True)],
)
def test_any_one_pressure_starves_the_box(pressure: Pressure, starved: bool) -> None:  # noqa: FBT001 - a parameter
    """CPU, disk and memory each keep everybody from running."""
    assert pressure.starved is starved


def test_pressure_and_counters_are_read_as_the_kernel_writes_them() -> None:
    """The formats of psi.rst and of /proc/vmstat."""
    text = "some avg10=0.75 avg60=0.28 avg300=0.31 total=3970649\nfull avg10=12.50 avg60=0.00 avg300=0.00 total=0\n"
    assert (average("some", text), average("full", text), average("full", "")) == (0.75, 12.5, 0.0)
    assert (count("oom_kill", "low 0\noom 3\noom_kill 2\n"), count("oom_kill", "")) == (2, None)


def test_a_holder_is_overdue_only_with_one_ticket_seen_twice() -> None:
    """A holder whose ticket changes is busy, however long it has been at it."""
    held = Held(pid=1, start_ticks=2, ticket=3, since=NOW)
    late = NOW + limits.TURN_HELD_MS_MAX
    assert overdue(held, held, late, limits.TURN_HELD_MS_MAX)
    assert not overdue(held, None, late, limits.TURN_HELD_MS_MAX)
    assert not overdue(held, replace(held, ticket=2), late, limits.TURN_HELD_MS_MAX)
    assert not overdue(held, held, late - 1, limits.TURN_HELD_MS_MAX)


def test_the_start_is_over_when_each_child_is_up_or_known_to_be_degraded() -> None:
    """A process that was merely made is not started yet."""
    up, starting = child(State.UP), child(State.STARTING, name="b", kind=SILENT)
    assert started([up], set())
    assert not started([up, starting], set())
    assert started([up, starting], {"worker"})
    assert not started([], set())
    assert summary([up, starting], {"worker"}) == "1 of 2 children up; degraded: worker"
    assert summary([up, child(State.UP, generation=2)], set()) == "2 of 2 children up; 1 still on the plan before"


def test_a_sort_has_recovered_when_all_of_it_were_up_for_long_enough() -> None:
    """One healthy slot does not speak for the others."""
    up, waiting = child(State.UP), child(State.WAITING, name="b")
    late = NOW + BEATS.pace.healthy_ms
    assert recovered([up], late) == {"steady"}
    assert recovered([up, waiting], late) == set()
    assert recovered([up], late - 1) == set()


def test_the_watchdog_bites_only_when_a_beating_child_cannot_be_brought_back() -> None:
    """A child that waits for its restart is on its recorded way."""
    much_later = NOW + 10 * limits.STARVED_MS_MAX
    assert table.feeds_watchdog([child(State.WAITING), child(State.UP, kind=SILENT)], much_later)
    assert table.feeds_watchdog([child(State.UP)], NOW)
    assert not table.feeds_watchdog([child(State.UP)], much_later)
    assert not table.feeds_watchdog([child(State.ENDING)], much_later)
