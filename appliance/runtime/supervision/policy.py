"""When a dead child comes back: a pure function of the history of deaths.

Each child has its own back-off, doubled with every death until it has lived healthily for a while; so one that cannot live does not
slow its neighbours.  More than a few deaths within the window, counted over all children of one sort (a kind, or one pool of it),
degrade that sort alone: it goes on at the slow pace until one of it was healthy.  No history means "never", and none
means "at once again": every answer is a bounded, positive delay.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from appliance import limits
from appliance.clock import BootInstant
from appliance.runtime.supervision.causes import Cause

DOUBLINGS_MOST = 40  # beyond any bound in use, and far from an overflow


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """The numbers of a kind's restarts, in milliseconds."""

    first_ms: int = limits.RESTART_FIRST_MS
    most_ms: int = limits.RESTART_MS_MAX
    window_ms: int = limits.RESTART_WINDOW_MS
    deaths_most: int = limits.RESTARTS_MOST
    healthy_ms: int = limits.HEALTHY_MS
    jitter: float = limits.RESTART_JITTER


DEFAULT_PACE = Pace()
STEWARD_PACE = Pace(most_ms=limits.RESTART_STEWARD_MS_MAX)


@dataclass(frozen=True, slots=True, kw_only=True)
class Death:
    """A child's end, as the policy looks at it.  ``sort`` is the kind, or the kind and pool, that is degraded together."""

    name: str
    sort: str
    cause: Cause
    at: BootInstant
    lived_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Restart:
    """Start it again after this back-off."""

    after_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Degrade:
    """The whole sort dies too often: start it again at the slow pace, and report it."""

    sort: str
    after_ms: int


def decide(dead: Death, before: Sequence[Death], pace: Pace, chance: float) -> Restart | Degrade:
    """What follows the newest death, given the deaths before it, oldest first, of any children, all of this boot.

    ``chance`` is from [0, 1), drawn by the caller; it only ever lengthens the delay, by at most the pace's jitter.
    Deaths that were asked for do not count.
    """
    history = [death for death in (*before, dead) if death.cause is not Cause.ASKED]
    if degraded(dead.sort, history, pace):
        return Degrade(sort=dead.sort, after_ms=_spread(pace.most_ms, pace, chance))
    row = _in_a_row([death for death in history if death.name == dead.name], pace)
    return Restart(after_ms=_spread(backoff_ms(row, pace), pace, chance))


def backoff_ms(row: int, pace: Pace) -> int:
    """The delay after the given number of deaths in a row: the first, doubled each time, up to the most."""
    return min(pace.first_ms << min(max(row - 1, 0), DOUBLINGS_MOST), pace.most_ms)


def degraded(sort: str, history: Sequence[Death], pace: Pace) -> bool:
    """Whether a sort died too often within one window, and none of it was healthy since."""
    deaths = [death for death in history if death.sort == sort and death.cause is not Cause.ASKED]
    recent = deaths[len(deaths) - _in_a_row(deaths, pace) :]
    step = pace.deaths_most
    return any(late.at - early.at <= pace.window_ms for early, late in zip(recent, recent[step:], strict=False))


def _in_a_row(deaths: Sequence[Death], pace: Pace) -> int:
    """How many of the last deaths belong together: those since the last one after a healthy life, that one included."""
    row = 0
    for death in reversed(deaths):
        row += 1
        if death.lived_ms >= pace.healthy_ms:
            break
    return row


def _spread(delay_ms: int, pace: Pace, chance: float) -> int:
    return delay_ms + int(delay_ms * pace.jitter * chance)
