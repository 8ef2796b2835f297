"""What a supervisor supervises: the kinds of children it knows, and the plan that says which of them there shall be."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import msgspec

from appliance import limits
from appliance.errors import ApplianceError
from appliance.runtime.supervision.policy import DEFAULT_PACE, Pace
from appliance.runtime.supervision.rescue import Held
from appliance.runtime.supervision.seats import Seat

PREPARE: Final = "prepare"


class PlanError(ApplianceError, remedy="report it: `prepare` and the supervisor do not understand each other", exit_code=70):
    """The plan that ``prepare`` returned cannot be followed."""


class ChildPlan(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One child: its unique name, its kind, the pool it belongs to if any, and what its ``main`` is told."""

    name: str
    kind: str
    pool: str = ""
    argument: dict[str, Any] = {}

    @property
    def sort(self) -> str:
        """The children that are degraded together: those of one kind, or of one pool of it."""
        return f"{self.kind}/{self.pool}" if self.pool else self.kind


class Plan(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All children, in the order in which they are started."""

    children: list[ChildPlan]


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """A kind of child: what it does, and how it is judged.

    One that ``beats`` calls ``seat.beat()`` at least every ``limits.BEAT_MS`` and is ended after ``beat_missed_ms`` of silence.
    Every child calls ``seat.ready()`` (or beats) within ``start_ms``.  One that ``wants_deaths`` gets a line for each death on
    ``seat.deaths``, and may ask for a kill.  When everything stops, one that ``leaves_last`` is asked only when the others have
    gone, so it can see to what they leave; in a reload it is asked alone, and need not wait for anybody.  ``main`` returns the exit
    code.
    """

    name: str
    main: Callable[[Seat], int]
    beats: bool = False
    wants_deaths: bool = False
    leaves_last: bool = False
    pace: Pace = DEFAULT_PACE
    beat_missed_ms: int = limits.BEAT_MISSED_MS
    start_ms: int = limits.CHILD_START_MS_MAX


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """Everything that ``supervise`` is told.

    ``prepare`` is called in a child of its own, at start and on SIGHUP, and returns an encoded ``Plan``; an ``ApplianceError``
    in it is its finding, and its exit code that of the supervisor.  ``held`` says who is inside the turnstile.
    ``notify_address`` and ``watchdog_ms`` are systemd's, if it is there.  Without ``hangup_reloads`` a SIGHUP is a stop: on a
    terminal it says that the terminal was closed.
    """

    kinds: tuple[Kind, ...]
    prepare: Callable[[Seat], bytes]
    deaths_path: Path
    held: Callable[[], Held | None] = lambda: None
    stop_ms: int = limits.STOP_MS
    prepare_ms: int = limits.PREPARE_MS_MAX
    turn_held_ms: int = limits.TURN_HELD_MS_MAX
    notify_address: str | None = None
    watchdog_ms: int | None = None
    hangup_reloads: bool = True


def encode(plan: Plan) -> bytes:
    """The plan as ``prepare`` returns it."""
    return msgspec.json.encode(plan)


def decode(raw: bytes, kinds: Mapping[str, Kind]) -> Plan:
    """The plan, if it can be followed.

    Raises ``PlanError`` for bytes that are none, a kind that is unknown, or a name that is used twice.
    """
    try:
        plan = msgspec.json.decode(raw, type=Plan)
    except msgspec.MsgspecError as error:
        message = f"the plan is not one: {error}"
        raise PlanError(message) from error
    unknown = sorted({child.kind for child in plan.children} - set(kinds))
    if unknown:
        message = f"the plan has children of unknown kinds: {', '.join(unknown)}"
        raise PlanError(message)
    names = {child.name for child in plan.children}
    if len(names) != len(plan.children) or PREPARE in names:
        message = f"the plan uses a name twice, or the name {PREPARE!r}"
        raise PlanError(message)
    return plan
