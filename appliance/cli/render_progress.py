"""Progress bars with rate and time left, on a terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.progress import Task as Row
from rich.progress import TaskID as RowId
from rich.text import Text

from appliance.cli import render
from appliance.cli.render import Stand

NAME_CHARS_MAX = 40


class Said(ProgressColumn):
    """A column of plain text, made of the row: nothing in it is taken for markup."""

    def __init__(self, say: Callable[[Row], str]) -> None:
        """Keep what says it."""
        super().__init__()
        self._say = say

    def render(self, row: Row) -> Text:
        """The text of a row."""
        return Text(self._say(row))


@dataclass(frozen=True, slots=True, kw_only=True)
class Bars:
    """A bar for each job."""

    progress: Progress
    rows: dict[int, RowId]

    def show(self, stands: Sequence[Stand]) -> None:
        """Move the bars."""
        for each in stands:
            self.progress.update(
                self.rows[each.id], completed=each.done, total=each.total or None, state=each.state, unit=each.unit
            )


@contextmanager
def bars(names: dict[int, str]) -> Iterator[Bars]:
    """Show bars while the block lasts; they stay when it ends."""
    columns = (
        Said(lambda row: row.description),
        BarColumn(bar_width=30),
        Said(lambda row: f"{row.percentage:3.0f} %"),
        Said(lambda row: f"{row.fields['state']:9}"),
        Said(_rate),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), refresh_per_second=4) as progress:
        rows = {id_: progress.add_task(_short(name), total=None, state="", unit="") for id_, name in names.items()}
        yield Bars(progress=progress, rows=rows)


def _rate(row: Row) -> str:
    """How many units a minute; nothing while that is not known."""
    speed = row.finished_speed or row.speed
    unit = row.fields["unit"]
    return f"{60 * speed:.0f} {unit}/min" if speed and unit and row.total else ""


def _short(name: str) -> str:
    name = render.safe(name)
    return name if len(name) <= NAME_CHARS_MAX else "…" + name[1 - NAME_CHARS_MAX :]
