"""The one place that knows everybody: which kinds of children there are, which handlers are built in, and how they meet."""

from __future__ import annotations

import importlib.util
import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import Final

from appliance.clock import Clock
from appliance.log import Log
from appliance.release import RELEASE
from appliance.runtime import prepare
from appliance.runtime.arguments import StoreArgument
from appliance.runtime.prepare import Wanted
from appliance.runtime.supervision import alone, rescue
from appliance.runtime.supervision.policy import DEFAULT_PACE, STEWARD_PACE, Pace
from appliance.runtime.supervision.program import Kind, Program
from appliance.runtime.supervision.supervisor import supervise
from appliance.runtime.tending import steward
from appliance.runtime.work import worker
from appliance.site import config
from appliance.site.config import Paths
from appliance.store.turnstile import TurnPage

DEATHS: Final = "deaths.jsonl"
BUILT_IN: Final = {"appliance.pipelines.probe": (), "appliance.pipelines.media.handlers": ("av", "numpy")}


def modules() -> list[str]:
    """The built-in handler modules whose packages are installed here."""
    return [name for name, needs in BUILT_IN.items() if all(importlib.util.find_spec(need) for need in needs)]


def built_in_settings() -> dict[str, dict[str, dict[str, object]]]:
    """The lowest layer of settings: the media pool touches foreign input, so it is isolated, one worker a core."""
    return {"pools": {"media": {"isolated": True, "workers": len(os.sched_getaffinity(0))}}}


def wanted(paths: Paths, *, over: dict[str, object] | None = None) -> Wanted:
    """What the settings of these paths want.

    Raises ``SettingsError``.
    """
    settings, _ = config.load(paths, under=built_in_settings(), over=over)
    return Wanted(
        store=StoreArgument(state=str(paths.state), runtime=str(paths.runtime), safe_overwrite=settings.store.safe_overwrite),
        release=RELEASE,
        modules=[*(modules() if settings.handlers.built_in else ()), *settings.handlers.modules],
        paths=settings.handlers.paths,
        pools=settings.pools,
        stop_ms=settings.stop.seconds * 1_000,
        restart_ms_max=settings.restarts.most_seconds * 1_000,
    )


def run(paths: Paths, clock: Clock, log: Log, *, over: dict[str, object] | None = None, notify: str | None = None) -> int:
    """Be the supervisor of these paths until it is asked to stop; its exit code.

    ``notify`` is the address that is told of readiness instead of the service manager's.

    Raises ``AlreadyRunningError`` when there is one, ``SettingsError`` when the settings cannot be used.
    """
    paths.make()
    first = wanted(paths, over=over)
    page = TurnPage(paths.runtime)
    variables = config.environment()
    program = Program(
        kinds=(
            Kind(
                name="steward", main=steward.main, beats=True, wants_deaths=True, leaves_last=True, pace=_pace(STEWARD_PACE, first)
            ),
            Kind(name="worker", main=worker.main, pace=_pace(DEFAULT_PACE, first)),
        ),
        prepare=lambda seat: prepare.prepare(seat, wanted(paths, over=over)),
        deaths_path=paths.state / DEATHS,
        held=lambda: _held(page),
        stop_ms=first.stop_ms + 2_000,
        notify_address=notify or variables.get("NOTIFY_SOCKET"),
        watchdog_ms=_watchdog_ms(variables),
        hangup_reloads=not sys.stdin.isatty(),
    )
    with alone.hold(paths.state):
        return supervise(program, clock=clock, log=log)


def _pace(pace: Pace, first: Wanted) -> Pace:
    return replace(pace, most_ms=min(pace.most_ms, first.restart_ms_max))


def _held(page: TurnPage) -> rescue.Held | None:
    held = page.held()
    if held is None:
        return None
    return rescue.Held(pid=held.pid, start_ticks=held.start_ticks, ticket=held.ticket, since=held.since)


def _watchdog_ms(variables: dict[str, str]) -> int | None:
    usec = variables.get("WATCHDOG_USEC", "")
    return int(usec) // 1_000 if usec.isdecimal() and variables.get("WATCHDOG_PID", str(os.getpid())) == str(os.getpid()) else None


def running(state: Path) -> bool:
    """Whether a supervisor works on this state folder now."""
    return alone.held(state)
