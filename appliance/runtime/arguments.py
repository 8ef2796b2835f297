"""What children are told, as data: it crosses a pipe from ``prepare`` to the supervisor, and a fork from there."""

from __future__ import annotations

from pathlib import Path

import msgspec

from appliance.runtime.kind_argument import KindArgument
from appliance.store.ledger import Place


class StoreArgument(msgspec.Struct, frozen=True, kw_only=True):
    """Where the ledger is, and how its storage is treated."""

    state: str
    runtime: str
    safe_overwrite: bool

    def place(self) -> Place:
        """As the store takes it."""
        return Place(state=Path(self.state), runtime=Path(self.runtime), safe_overwrite=self.safe_overwrite)


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
