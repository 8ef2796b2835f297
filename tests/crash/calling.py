"""Making calls of the hostile handlers, as a worker would."""

from __future__ import annotations

from pathlib import Path

from appliance.clock import SYSTEM
from appliance.coordination.handlers import Context
from appliance.coordination.outcomes import Json, Output, Part
from appliance.log import Log
from appliance.runtime.call import Call, Function
from appliance.runtime.hands.hands import Hand
from appliance.runtime.hands.requests import Setup
from appliance.runtime.kind_argument import KindArgument

MODULE = "tests.crash.hostile"


def hand(*modules: str, cpu_ms: int = 0, resident_bytes_max: int = 512 << 20) -> Hand:
    """A hand for these modules."""
    setup = Setup(modules=list(modules) or [MODULE], memory_bytes_max=1 << 30, cpu_ms=cpu_ms)
    return Hand(
        setup=setup,
        environment={"LANG": "C.UTF-8"},
        clock=SYSTEM,
        log=Log(wall_ms=SYSTEM.wall_ms),
        resident_bytes_max=resident_bytes_max,
    )


def call(
    kind: str,
    scratch: Path,
    payload: Json = None,
    *,
    function: Function = "work",
    state: Json = None,
    subject: Part | Output | None = None,
    ordinal: int | None = None,
) -> Call:
    """A call of a handler's function."""
    argument = KindArgument(
        module=MODULE, kind=kind, version=1, schema=1, time_limit_ms=60_000, memory_bytes_max=1 << 30, backoff_ms=1_000
    )
    context = Context(
        job_id=1, kind=kind, attempt=3, scratch=scratch, ordinal=ordinal, params={"run_in": 2} if ordinal is not None else {}
    )
    return Call(function=function, kind=argument, context=context, payload=payload, state=state, subject=subject)
