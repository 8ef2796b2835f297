"""Pages that are printed from what they describe: ``python -m tests.house.pages`` prints them, the house tests compare them.

``docs/states.md`` is printed from the table of moves, ``docs/schema.sql`` from a ledger that all migrations made,
``docs/settings.md`` from the classes of settings.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import get_args, get_origin, get_type_hints

import apsw
from msgspec import Meta, Struct
from msgspec.structs import fields

from appliance import settings
from appliance.clock import SYSTEM
from appliance.coordination import states, triggers
from appliance.coordination.states import Move
from appliance.store import migrations
from appliance.store.ledger import LEDGER, Place
from tests.house.tree import ROOT

STATES = ROOT / "docs" / "states.md"
SCHEMA = ROOT / "docs" / "schema.sql"
SETTINGS = ROOT / "docs" / "settings.md"
PRINT = "python -m tests.house.pages"

HEAD = f"""# Where work stands, and every move it may make

Printed from `appliance/coordination/states.py` by `{PRINT}`; the ledger's triggers are made from the same table, and refuse
everything else.
"""


def _names(values: Sequence[str]) -> str:
    return ", ".join(values) if values else "(new)"


def _effects(move: Move) -> str:
    counts = {"fence": {0: "keep", 1: "add"}[move.attempts], "failures": move.failures, "starts": move.starts}
    said = {"add": "+ 1", "reset": "= 0", "either": "+ 0 or 1"}
    return ", ".join(f"{name} {said[count]}" for name, count in counts.items() if count in said)


def _table(moves: Sequence[Move]) -> list[str]:
    rows = [
        f"| {move.verb} | {_names(move.was)} → {_names(move.became)} | "
        f"{'anyone' if move.actors == tuple(states.Actor) else _names(move.actors)} | {move.must} | {_effects(move)} |"
        for move in moves
    ]
    return ["| verb | from → to | who | what must exist | counts |", "|---|---|---|---|---|", *rows]


def _diagram(moves: Sequence[Move]) -> list[str]:
    arrows: dict[tuple[str, str], list[str]] = {}
    for move in moves:
        for _, was, became, *_ in move.cells():
            verbs = arrows.setdefault((was or "[*]", became), [])
            if move.verb not in verbs:
                verbs.append(move.verb)
    return [
        "```mermaid",
        "stateDiagram-v2",
        *(f"    {was} --> {became}: {', '.join(arrows[was, became])}" for was, became in arrows),
        "```",
    ]


def states_page() -> str:
    """The page of states: a table and a diagram for each noun."""
    sections = [[f"## {noun}", "", *_table(moves), "", *_diagram(moves)] for noun, moves in states.NOUNS.items()]
    return HEAD + "".join("\n" + "\n".join(section) + "\n" for section in sections)


SETTINGS_HEAD = f"""# Settings

Printed from `appliance/settings.py` by `{PRINT}`.  The files are TOML; later ones win key by key, and defaults are filled in last:
the machine's (`/etc/xdg/appliance/appliance.toml`), the user's (`~/.config/appliance/appliance.toml`), the state directory's
(`appliance.toml`); or the one that `--config` names, alone.  `appliance run` reads them at its start and on SIGHUP.

| key | type | default | what it does |
|---|---|---|---|
"""


def _settings(group: type[Struct], prefix: str) -> Iterator[str]:
    hints = get_type_hints(group, include_extras=True)
    for member in fields(group):
        hint = hints[member.name]
        inner = next((part for part in (hint, *get_args(hint)) if isinstance(part, type) and issubclass(part, Struct)), None)
        key = f"{prefix}{member.name}"
        if inner is not None:
            yield from _settings(inner, f"{key}.NAME." if get_origin(hint) is dict else f"{key}.")
            continue
        (said,) = [part for part in hint.__metadata__ if isinstance(part, Meta)]
        kind = getattr(hint.__origin__, "__name__", str(hint.__origin__))
        yield f"| `{key}` | {kind} | `{toml(member.default)}` | {said.description} |"


def toml(value: object) -> str:
    """A default as it would stand in a file."""
    return json.dumps(list(value) if isinstance(value, tuple) else value)


def settings_page() -> str:
    """The page of settings."""
    return SETTINGS_HEAD + "".join(f"{line}\n" for line in _settings(settings.Settings, ""))


def migrated(folder: Path) -> apsw.Connection:
    """A connection, for reading, to a ledger as ``prepare`` makes it on a new box."""
    migrations.migrate(Place(state=folder, runtime=folder), SYSTEM, triggers.statements(), release="house")
    return apsw.Connection(str(folder / LEDGER), flags=apsw.SQLITE_OPEN_READONLY)


def schema_page(ledger: apsw.Connection) -> str:
    """The schema as all migrations left it, in the order of its making; triggers are those of ``triggers.py``."""
    made = ledger.execute(
        "SELECT sql FROM sqlite_schema WHERE type <> 'trigger' AND sql IS NOT NULL AND name NOT LIKE 'sqlite_%' ORDER BY rowid"
    )
    head = f"-- The ledger's schema, the sum of appliance/store/migrations; printed by `{PRINT}`, read by nobody but people.\n"
    return head + "".join(f"\n{sql};\n" for (sql,) in made)


def main() -> None:
    """Write the pages."""
    SETTINGS.write_text(settings_page(), encoding="utf-8")
    STATES.write_text(states_page(), encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder:
        ledger = migrated(Path(folder))
        SCHEMA.write_text(schema_page(ledger), encoding="utf-8")
        ledger.close()


if __name__ == "__main__":
    main()
