"""The whole life of a child as one table of states and causes, keyed by its name.

``MOVES`` says which step leads from which state to which.  ``RULES`` says after how long in a state which step is due; a
patient rule first asks whether the box is starved, as then silence proves nothing.  Everything here is a value or a pure function;
the supervisor carries the steps out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from enum import StrEnum, unique
from typing import Final

from appliance import limits
from appliance.clock import BootInstant
from appliance.runtime.supervision.causes import Cause
from appliance.runtime.supervision.channels import Channel
from appliance.runtime.supervision.identity import Process
from appliance.runtime.supervision.program import ChildPlan, Kind


@unique
class State(StrEnum):
    """Where a child stands."""

    WAITING = "waiting"  # there is no process; it is started when its back-off is over
    STARTING = "starting"  # forked, not heard yet
    UP = "up"  # it said that it is ready
    LEAVING = "leaving"  # it was asked to end
    ENDING = "ending"  # it was killed, and is not reaped yet


@unique
class Step(StrEnum):
    """What happens to a child."""

    START = "start"
    READY = "ready"
    DUMP = "dump"  # its stacks go to the log; it stays where it is
    TERMINATE = "terminate"
    KILL = "kill"
    REAP = "reap"


MOVES: Final = {
    (State.WAITING, Step.START): State.STARTING,
    (State.STARTING, Step.READY): State.UP,
    (State.STARTING, Step.TERMINATE): State.LEAVING,
    (State.STARTING, Step.KILL): State.ENDING,
    (State.STARTING, Step.REAP): State.WAITING,
    (State.UP, Step.DUMP): State.UP,
    (State.UP, Step.TERMINATE): State.LEAVING,
    (State.UP, Step.KILL): State.ENDING,
    (State.UP, Step.REAP): State.WAITING,
    (State.LEAVING, Step.KILL): State.ENDING,
    (State.LEAVING, Step.REAP): State.WAITING,
    (State.ENDING, Step.REAP): State.WAITING,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Body:
    """The process of a child, and our ends of its pipes."""

    process: Process
    channel: Channel


@dataclass(frozen=True, slots=True, kw_only=True)
class Child:
    """A child by name.  ``body`` is there in every state but WAITING.

    ``generation`` is the plan it was started from, ``proven`` the last one under which it was up, ``born`` when its process began.
    ``wait_ms`` is the back-off of WAITING and the patience of LEAVING.  ``killed_for`` is why we ended it, if we did.
    """

    plan: ChildPlan
    kind: Kind
    generation: int
    state: State
    since: BootInstant
    heard: BootInstant
    born: BootInstant
    wait_ms: int = 0
    body: Body | None = None
    killed_for: Cause | None = None
    dumped_at: BootInstant | None = None
    proven: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """After ``limit_ms`` since ``since``, a child in ``state`` is due for ``step``."""

    state: State
    step: Step
    since: Callable[[Child], BootInstant]
    limit_ms: Callable[[Child], int]
    when: Callable[[Child], bool] = lambda _child: True
    patient: bool = False


def _in_state(child: Child) -> BootInstant:
    return child.since


def _silent(child: Child) -> BootInstant:
    return child.heard


RULES: Final = (
    Rule(state=State.WAITING, step=Step.START, since=_in_state, limit_ms=lambda child: child.wait_ms),
    Rule(state=State.STARTING, step=Step.TERMINATE, since=_in_state, limit_ms=lambda child: child.kind.start_ms, patient=True),
    Rule(
        state=State.UP,
        step=Step.DUMP,
        since=_silent,
        limit_ms=lambda child: child.kind.beat_missed_ms // limits.LATE_SHARE,
        when=lambda child: child.kind.beats and (child.dumped_at is None or child.dumped_at < child.heard),
        patient=True,
    ),
    Rule(
        state=State.UP,
        step=Step.TERMINATE,
        since=_silent,
        limit_ms=lambda child: child.kind.beat_missed_ms,
        when=lambda child: child.kind.beats,
        patient=True,
    ),
    Rule(state=State.LEAVING, step=Step.KILL, since=_in_state, limit_ms=lambda child: child.wait_ms),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Due:
    """The next step of a child, and when."""

    step: Step
    at: BootInstant
    silent_since: BootInstant
    patient: bool


def next_due(child: Child) -> Due | None:
    """What is due next for a child by the clock alone, if anything is."""
    found = [
        Due(step=rule.step, at=rule.since(child) + rule.limit_ms(child), silent_since=rule.since(child), patient=rule.patient)
        for rule in RULES
        if rule.state is child.state and rule.when(child)
    ]
    return min(found, key=lambda due: due.at.ms, default=None)


def new(plan: ChildPlan, kind: Kind, generation: int, now: BootInstant) -> Child:
    """A child that is to be started at once."""
    return Child(plan=plan, kind=kind, generation=generation, state=State.WAITING, since=now, heard=now, born=now)


def moved(child: Child, step: Step, now: BootInstant) -> Child:
    """The child after this step; ``KeyError`` when its state does not allow it."""
    state = MOVES[child.state, step]
    if step is Step.DUMP:
        return replace(child, dumped_at=now)
    if step is Step.START:
        return replace(child, state=state, since=now, heard=now, born=now)
    if step is Step.READY:
        return replace(child, state=state, since=now, heard=now, proven=child.generation)
    return replace(child, state=state, since=now)


def next_to_recycle(children: Iterable[Child], generation: int) -> Child | None:
    """The next child to be made anew after a reload: one at a time, each only when the one before is up.

    A child that was up under the last plan and is not under the new one holds the rest back, so a broken release of a handler
    does not take down what still works.  One that was not up before either does not.
    """
    table = list(children)
    unproven = any(child.generation == generation and child.proven == generation - 1 for child in table)
    if unproven or any(child.state in (State.LEAVING, State.ENDING) for child in table):
        return None
    return next((child for child in table if child.generation < generation and child.state in (State.STARTING, State.UP)), None)


def feeds_watchdog(children: Iterable[Child], now: BootInstant) -> bool:
    """Whether every child that beats does beat, or is on its recorded way back: else the watchdog may bite."""
    return all(not child.kind.beats or not _stuck(child, now) for child in children)


def _stuck(child: Child, now: BootInstant) -> bool:
    if child.state is State.UP:
        return now - child.heard > limits.STARVED_MS_MAX + child.kind.beat_missed_ms
    return child.state is State.ENDING and now - child.since > limits.STARVED_MS_MAX
