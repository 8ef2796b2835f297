"""The restart policy never gives up, never spins, and punishes only those that die."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from appliance.clock import BootInstant
from appliance.runtime.supervision.causes import Cause
from appliance.runtime.supervision.policy import STEWARD_PACE, Death, Degrade, Pace, Restart, backoff_ms, decide

PACE = Pace()
CHANCES = st.floats(0, 1, exclude_max=True)


def death(at_ms: int, *, name: str = "worker-0", sort: str = "worker", cause: Cause = Cause.SIGNAL, lived_ms: int = 100) -> Death:
    """A death at a time."""
    return Death(name=name, sort=sort, cause=cause, at=BootInstant(at_ms), lived_ms=lived_ms)


DEATHS = st.builds(
    death,
    st.integers(0, 10_000_000),
    name=st.sampled_from(["worker-0", "worker-1", "steward"]),
    sort=st.sampled_from(["worker", "steward"]),
    cause=st.sampled_from(list(Cause)),
    lived_ms=st.integers(0, 2 * PACE.healthy_ms),
)
HISTORIES = st.lists(DEATHS, min_size=1, max_size=40).map(lambda found: sorted(found, key=lambda each: each.at.ms))


def crash_loop(until_ms: int, pace: Pace, lived_ms: int = 100, chance: float = 0.0) -> list[Death]:
    """All deaths of a child that always dies after the same time."""
    deaths: list[Death] = []
    now = 0
    while (now := now + lived_ms) <= until_ms:
        deaths.append(death(now, lived_ms=lived_ms))
        now += decide(deaths[-1], deaths[:-1], pace, chance).after_ms
    return deaths


@given(HISTORIES, CHANCES)
def test_every_delay_is_positive_and_bounded(history: list[Death], chance: float) -> None:
    """Zero would spin, and no bound would be giving up."""
    after_ms = decide(history[-1], history[:-1], PACE, chance).after_ms
    assert PACE.first_ms <= after_ms <= PACE.most_ms * (1 + PACE.jitter)


@given(HISTORIES, CHANCES)
def test_the_deaths_of_another_sort_change_nothing(history: list[Death], chance: float) -> None:
    """One kind is degraded alone."""
    dead = death(10_000_001, name="gateway", sort="gateway")
    assert decide(dead, history, PACE, chance) == decide(dead, [], PACE, chance)


@given(HISTORIES, CHANCES)
def test_deaths_that_were_asked_for_count_nothing(history: list[Death], chance: float) -> None:
    """A reload or a stop is no failure."""
    counted = [each for each in history if each.cause is not Cause.ASKED]
    assert decide(history[-1], history[:-1], PACE, chance) == decide(
        history[-1], [each for each in counted if each is not history[-1]], PACE, chance
    )


def test_the_back_off_doubles_from_half_a_second() -> None:
    """The figures of the design."""
    assert [backoff_ms(row, PACE) for row in (1, 2, 3, 10, 11, 1000)] == [500, 1_000, 2_000, 256_000, 300_000, 300_000]


def test_the_steward_waits_at_most_half_a_minute() -> None:
    """Nothing is freed while it is away."""
    assert max(late.at - early.at for early, late in pairwise(crash_loop(3_600_000, STEWARD_PACE))) <= 30_100


def test_more_than_five_deaths_in_two_minutes_degrade_the_sort() -> None:
    """The sixth within the window is one too many."""
    early = [death(at * 1_000, name=f"worker-{at % 3}") for at in range(5)]
    assert isinstance(decide(early[-1], early[:-1], PACE, 0), Restart)
    assert decide(death(5_000, name="worker-2"), early, PACE, 0) == Degrade(sort="worker", after_ms=300_000)


def test_a_degraded_sort_stays_at_the_slow_pace_until_it_was_healthy() -> None:
    """It does not forget at the first quiet window, and it does forget after a healthy life."""
    loop = crash_loop(3_600_000, PACE)
    assert isinstance(decide(death(3_700_000), loop, PACE, 0), Degrade)
    healthy = death(4_700_000, lived_ms=PACE.healthy_ms)
    assert decide(healthy, loop, PACE, 0) == Restart(after_ms=500)


def test_a_child_that_dies_slowly_is_not_degraded_but_slowed() -> None:
    """Deaths a minute apart are no storm."""
    deaths = [death(at * 60_000, lived_ms=59_000) for at in range(4)]
    assert decide(deaths[-1], deaths[:-1], PACE, 0) == Restart(after_ms=4_000)


@given(CHANCES, st.integers(0, 5_000))
def test_a_child_that_always_dies_is_started_under_sixty_times_in_four_hours(chance: float, lived_ms: int) -> None:
    """Another product's 1,655 restarts in that time are the measure."""
    assert len(crash_loop(4 * 3_600_000, PACE, max(lived_ms, 1), chance)) < 60
