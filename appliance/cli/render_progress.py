"""Progress bars with rate and time left, on a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from appliance.cli import render

if TYPE_CHECKING:
    from appliance.cli.waiting import Stand

NAME_CHARS_MAX = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class Bars:
    """A bar for each job."""

    progress: Progress
    rows: dict[int, TaskID]

    def show(self, stands: Sequence[Stand]) -> None:
        """Move the bars."""
        for each in stands:
            self.progress.update(self.rows[each.id], completed=each.done, total=each.total or None, state=each.state)


@contextmanager
def bars(names: dict[int, str]) -> Iterator[Bars]:
    """Show bars while the block lasts; they stay when it ends."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(bar_width=30),
        TextColumn("{task.percentage:>3.0f} %"),
        TextColumn("{task.fields[state]:9}"),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), refresh_per_second=4) as progress:
        rows = {id_: progress.add_task(_short(name), total=None, state="") for id_, name in names.items()}
        yield Bars(progress=progress, rows=rows)


def _short(name: str) -> str:
    name = render.safe(name)
    return escape(name if len(name) <= NAME_CHARS_MAX else "…" + name[1 - NAME_CHARS_MAX :])
