"""Ledgers to be measured: made as ``prepare`` makes them, on the disk that the bench was given."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from appliance.clock import SYSTEM
from appliance.coordination import kinds, queue, triggers
from appliance.coordination.work import Submission
from appliance.site import boot, config
from appliance.store import migrations
from appliance.store.ledger import Ledger, Place
from tests.bench import handlers

PAYLOAD = {"text": "y" * 180}


@dataclass(slots=True)
class Stopwatch:
    """Times of transactions in seconds, on the boot clock: ``durable_ns`` is when the last commit had returned from the disk."""

    durable_ns: int = 0

    def watch(self, ledger: Ledger) -> None:
        """Have the engine call at each commit; the hook runs after the sync, before anybody is woken."""
        with ledger.write() as tx:
            tx.connection.set_wal_hook(self._note)

    def _note(self, _connection: Any, _name: str, _pages: int) -> int:  # noqa: ANN401 - the engine's own connection
        self.durable_ns = time.clock_gettime_ns(time.CLOCK_BOOTTIME)
        return 0


@contextmanager
def place(folder: Path, name: str) -> Iterator[Place]:
    """The folders of a ledger of that name; its memory folder goes with it."""
    paths = config.paths({}, state=folder / name).make()
    try:
        yield Place(state=paths.state, runtime=paths.runtime)
    finally:
        shutil.rmtree(paths.runtime, ignore_errors=True)
        shutil.rmtree(paths.state, ignore_errors=True)


def made(where: Place) -> Ledger:
    """An open ledger that knows the kinds of the bench."""
    migrations.migrate(where, SYSTEM, triggers.statements(), release="bench")
    ledger = opened(where)
    with ledger.write() as tx:
        kinds.declare(tx, handlers.ALL)
    return ledger


def opened(where: Place) -> Ledger:
    """One more connection, of this process."""
    return Ledger(where, SYSTEM, boot.start_ticks(os.getpid()) or 0)


def bound(kind: str, count: int, prefix: str) -> list[dict[str, Any]]:
    """Submissions made ready for the ledger."""
    return [queue.bindings(Submission(kind=kind, payload=PAYLOAD, work_id=f"{prefix}{number}")) for number in range(count)]


def fill(ledger: Ledger, kind: str, count: int, prefix: str, batch: int = 1_000) -> None:
    """Submit in bulk."""
    for start in range(0, count, batch):
        ready = bound(kind, min(batch, count - start), f"{prefix}{start}.")
        with ledger.write() as tx:
            queue.submit_bound(tx, ready)
    ledger.checkpoint()
