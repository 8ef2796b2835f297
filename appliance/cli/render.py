"""How things look: tables for people, lines for programs, a live view for a terminal.  rich is loaded for a terminal alone."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Stand:
    """How far a job is: done of total, in the ``unit`` that it counts (empty where nobody says)."""

    id: int
    state: str
    done: float
    total: int
    unit: str = ""


def json_line(value: Mapping[str, Any]) -> None:
    """One JSON object a line."""
    print(json.dumps(value, ensure_ascii=False))


def note(text: str) -> None:
    """Something beside the answer: on standard error."""
    print(text, file=sys.stderr)


def safe(text: object) -> str:
    """A text that cannot command a terminal: control characters and direction marks are shown as escapes."""
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode("ascii") for char in str(text))


def table(heads: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Rows under heads: aligned by rich on a terminal, separated by tabs in a pipe."""
    cells = [["" if cell is None else safe(cell) for cell in row] for row in rows]
    if not sys.stdout.isatty():
        for row in [list(heads), *cells]:
            print("\t".join(row))
        return
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    shown = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for head in heads:
        shown.add_column(head, overflow="fold")
    for row in cells:
        shown.add_row(*(Text(cell) for cell in row))
    Console().print(shown)


def facts(pairs: Iterable[tuple[str, object]]) -> None:
    """Named values, one a line; what is None is left out."""
    known = [(name, value) for name, value in pairs if value is not None]
    width = max((len(name) for name, _ in known), default=0)
    for name, value in known:
        print(f"{name:{width}}  {safe(value)}")
