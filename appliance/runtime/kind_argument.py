"""A kind of job as a worker and its hand are told of it; apart from the other arguments, since a hand knows of no store."""

from __future__ import annotations

import msgspec

from appliance.coordination.handlers import Handler


class KindArgument(msgspec.Struct, frozen=True, kw_only=True):
    """A kind of job that a worker does: the module that declares it, and its limits."""

    module: str
    kind: str
    version: int
    schema: int
    time_limit_ms: int
    memory_bytes_max: int
    backoff_ms: int
    stall_ms: int = 0


def kind_of(module: str, handler: Handler, memory_bytes_most: int) -> KindArgument:
    """A declared handler as a worker is told of it; the pool's bound on memory holds where the kind's own is larger."""
    return KindArgument(
        module=module,
        kind=handler.kind,
        version=handler.version,
        schema=handler.schema,
        time_limit_ms=handler.time_limit_ms,
        stall_ms=handler.stall_ms,
        memory_bytes_max=min(handler.memory_bytes_max, memory_bytes_most),
        backoff_ms=handler.backoff_ms,
    )
