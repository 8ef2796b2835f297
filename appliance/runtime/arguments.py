"""What children are told, as data: it crosses a pipe from ``prepare`` to the supervisor, and a fork from there."""

from __future__ import annotations

from pathlib import Path

import msgspec

from appliance.coordination.handlers import Handler
from appliance.store.ledger import Place


class StoreArgument(msgspec.Struct, frozen=True, kw_only=True):
    """Where the ledger is, and how its storage is treated."""

    state: str
    runtime: str
    safe_overwrite: bool

    def place(self) -> Place:
        """As the store takes it."""
        return Place(state=Path(self.state), runtime=Path(self.runtime), safe_overwrite=self.safe_overwrite)


class KindArgument(msgspec.Struct, frozen=True, kw_only=True):
    """A kind of job that a worker does: the module that declares it, and its limits."""

    module: str
    kind: str
    version: int
    schema: int
    time_limit_ms: int
    memory_bytes_max: int
    backoff_ms: int


class WorkerArgument(msgspec.Struct, frozen=True, kw_only=True):
    """A worker: one slot of a pool.  ``paths`` are the folders that modules of handlers are looked for in first."""

    store: StoreArgument
    release: str
    pool: str
    isolated: bool
    stop_ms: int
    paths: list[str]
    kinds: list[KindArgument]


class StewardArgument(msgspec.Struct, frozen=True, kw_only=True):
    """The steward: which ledger it tends."""

    store: StoreArgument
    release: str


def kind_of(module: str, handler: Handler, memory_bytes_most: int) -> KindArgument:
    """A declared handler as a worker is told of it; the pool's bound on memory holds where the kind's own is larger."""
    return KindArgument(
        module=module,
        kind=handler.kind,
        version=handler.version,
        schema=handler.schema,
        time_limit_ms=handler.time_limit_ms,
        memory_bytes_max=min(handler.memory_bytes_max, memory_bytes_most),
        backoff_ms=handler.backoff_ms,
    )
