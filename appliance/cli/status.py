"""How the appliance is: whether it runs, who is alive, and how the work stands."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from typing import Final

from appliance import limits, wiring
from appliance.cli import access, render
from appliance.coordination import history, kinds, leases
from appliance.store import engine
from appliance.store.ledger import Ledger

WELL: Final = "well"


def configure(parser: ArgumentParser) -> None:
    """One view, for people or programs."""
    parser.add_argument("--json", action="store_true", help="as one JSON object")


def main(arguments: Namespace) -> int:
    """Tell; 0 when it runs and its storage is well, 1 otherwise."""
    with access.opened(arguments) as found:
        running, storage = wiring.running(found.paths.state), _storage(found.ledger)
        view = {
            "state_directory": str(found.paths.state),
            "running": running,
            "storage": storage,
            "engine": engine.engine_version(),
            "wal_bytes": found.ledger.wal_bytes(),
            "processes": access.living(found.paths),
            "holders": len(leases.holders(found.ledger)),
            "jobs": history.counts(found.ledger),
            "kinds": {each.kind: each.version for each in kinds.known(found.ledger)},
        }
    if arguments.json:
        render.json_line(view)
    else:
        render.facts([(name, _line(value)) for name, value in view.items()])
    return 0 if running and storage == WELL else 1


def _storage(ledger: Ledger) -> str:
    """How the ledger's storage is, in three words at most."""
    if ledger.failing():
        return "failing"
    return "WAL over its bound" if ledger.wal_bytes() > limits.WAL_BYTES_MAX else WELL


def _line(value: object) -> object:
    if isinstance(value, dict):
        return ", ".join(f"{name} {count}" for name, count in value.items()) or "none"
    return {True: "yes", False: "no"}.get(value, value) if isinstance(value, bool) else value
