"""How a command gets at an appliance: its paths, its ledger, and a transaction that no keyboard can freeze."""

from __future__ import annotations

import os
import signal
from argparse import Namespace
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from appliance.clock import SYSTEM
from appliance.coordination import processes
from appliance.log import Log
from appliance.runtime.supervision import identity
from appliance.site import boot, config
from appliance.site.config import Paths
from appliance.store.ledger import Ledger, Place, Transaction
from appliance.store.live import Live

KEYS: Final = (signal.SIGINT, signal.SIGTSTP, signal.SIGTTOU, signal.SIGTTIN, signal.SIGHUP)


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """An open appliance, from a command's side."""

    paths: Paths
    ledger: Ledger

    @contextmanager
    def write(self) -> Iterator[Transaction]:
        """A transaction, with the keyboard's signals held back: a stopped command would hold the turn of everybody."""
        before = signal.pthread_sigmask(signal.SIG_BLOCK, KEYS)
        try:
            with self.ledger.write() as tx:
                yield tx
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)

    def live(self) -> Live:
        """The database of the living, for as long as the command wants it."""
        return Live(self.paths.runtime, boot.boot_id())


def living(places: Paths) -> dict[str, int]:
    """The pids of the living processes by name; of the dead, after a stop, nobody removes the names."""
    live = Live(places.runtime, boot.boot_id())
    try:
        entered = [(each.name, identity.parse(each.holder)) for each in processes.entered(live)]
    finally:
        live.close()
    return {name: process.pid for name, process in entered if process is not None and identity.alive(process)}


def paths(arguments: Namespace) -> Paths:
    """The paths that the arguments and the environment name."""
    return config.paths(config.environment(), state=arguments.state, config=arguments.config)


def log() -> Log:
    """The log of a command: standard error."""
    return Log(wall_ms=SYSTEM.wall_ms)


@contextmanager
def opened(arguments: Namespace) -> Iterator[Access]:
    """The appliance that the arguments name.

    Raises ``LedgerMissingError`` where there is none.
    """
    places = paths(arguments)
    if places.state.exists():
        places.make()
    settings, _ = config.load(places)
    place = Place(state=places.state, runtime=places.runtime, safe_overwrite=settings.store.safe_overwrite)
    ledger = Ledger(place, SYSTEM, boot.start_ticks(os.getpid()) or 0)
    try:
        yield Access(paths=places, ledger=ledger)
    finally:
        ledger.close()
