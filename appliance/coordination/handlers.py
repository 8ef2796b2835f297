"""How a vendor declares what can be done: ``@job`` turns a function into a ``Handler``, a value that says all of it.

There is no registry: ``handlers_of(module)`` reads the handlers from a module's own names, when ``prepare`` imports it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

from appliance import errors
from appliance.coordination.outcomes import FoldOutcome, Json, Outcome, Output, Part

KIND = re.compile(r"[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """What a handler may know and do besides its payload.

    ``attempt`` is the fence: it only grows, and every write made in the handler's name carries it.  For a part, ``ordinal``
    counts from 0, ``params`` are those of the last ``Redo``, and ``files`` are the files of the ``Split``, read-only.
    ``scratch`` is an empty folder that goes with the attempt.
    """

    job_id: int
    kind: str
    attempt: int
    scratch: Path
    ordinal: int | None = None
    params: Mapping[str, Json] = field(default_factory=dict)
    files: Mapping[str, Path] = field(default_factory=dict)
    cancelled: Callable[[], bool] = lambda: False
    progress: Callable[[int, int], None] = lambda done, total: None


Function = Callable[[Context, Any], "Outcome | Json"]
PartFunction = Callable[[Context, Any], "Outcome | Json"]
FoldFunction = Callable[[Context, Any, Any, Part], FoldOutcome]
ConcludeFunction = Callable[[Context, Any, Any, Output], "Outcome | Json"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Handler:
    """A declared kind of job: the function, its version, where it runs, and its limits."""

    kind: str
    function: Function
    version: int = 1
    schema: int = 1
    pool: str = "default"
    time_limit_ms: int = 600_000
    stall_ms: int = 0
    memory_bytes_max: int = 1 << 30
    failures_max: int = 5
    backoff_ms: int = 1_000
    part: PartFunction | None = None
    fold: FoldFunction | None = None
    conclude: ConcludeFunction | None = None

    def __call__(self, context: Context, payload: Any) -> Outcome | Json:  # noqa: ANN401 - a payload has the type its handler gives it
        """Call the function itself, as a unit test of a vendor would."""
        return self.function(context, payload)


def job(  # noqa: PLR0913 - one keyword for each thing a vendor may say
    kind: str,
    *,
    version: int = 1,
    schema: int = 1,
    pool: str = "default",
    time_limit_ms: int = 600_000,
    stall_ms: int = 0,
    memory_bytes_max: int = 1 << 30,
    failures_max: int = 5,
    backoff_ms: int = 1_000,
    part: PartFunction | None = None,
    fold: FoldFunction | None = None,
    conclude: ConcludeFunction | None = None,
) -> Callable[[Function], Handler]:
    """Declare the decorated function as the handler of ``kind``.

    ``kind`` is lower-case words joined by dots; ``version`` is the processing version that is part of a job's identity;
    ``stall_ms`` is for a handler in an isolated pool that tells its progress: silent for so long, it hangs and is ended.
    ``schema`` the payload schema that the function reads.  A handler that returns ``Split`` declares ``part`` (measures one
    part), ``fold`` (takes the parts strictly in order) and ``conclude`` (makes the outcome when all are folded).

    Raises ``HandlerError`` for a declaration that cannot work.
    """
    if not KIND.fullmatch(kind):
        message = f"the kind {kind!r} is not lower-case words joined by dots"
        raise errors.HandlerError(message)
    if len({part is None, fold is None, conclude is None}) != 1:
        message = f"the kind {kind!r} declares some of part, fold and conclude: a split needs all three"
        raise errors.HandlerError(message)
    for name, number in (
        ("version", version),
        ("schema", schema),
        ("time_limit_ms", time_limit_ms),
        ("failures_max", failures_max),
    ):
        if number < 1:
            message = f"the kind {kind!r} has {name}={number}: it must be at least 1"
            raise errors.HandlerError(message)

    def declare(function: Function) -> Handler:
        return Handler(
            kind=kind,
            function=function,
            version=version,
            schema=schema,
            pool=pool,
            time_limit_ms=time_limit_ms,
            stall_ms=stall_ms,
            memory_bytes_max=memory_bytes_max,
            failures_max=failures_max,
            backoff_ms=backoff_ms,
            part=part,
            fold=fold,
            conclude=conclude,
        )

    return declare


def handlers_of(module: ModuleType) -> list[Handler]:
    """The handlers among a module's own names, in the order of their kinds."""
    found = {value.kind: value for value in vars(module).values() if isinstance(value, Handler)}
    return [found[kind] for kind in sorted(found)]
