"""Waiting for jobs to end, and showing how far they are: bars on a terminal, plain lines in a pipe."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from typing import Final, Protocol

from appliance.cli import render
from appliance.cli.access import Access
from appliance.cli.render import Stand
from appliance.coordination import history, processes, splits
from appliance.store.live import Live
from appliance.store.wake import Waiter

LOOK_MS: Final = 400  # how often a view is drawn anew
SHOWN_MOST: Final = 40  # jobs whose progress is looked up; the others show when they end
GOOD: Final = "done"


class View(Protocol):
    """What shows the progress."""

    def show(self, stands: Sequence[Stand]) -> None:
        """Show how far the jobs are."""


def wait(found: Access, ids: Sequence[int], *, as_json: bool = False) -> int:
    """Wait for the end of jobs, and tell each; 0 when all are done, 1 when one came to another end."""
    ends = dict(follow(found, ids, quiet=as_json))
    for id_ in ids:
        shown = history.show(found.ledger, id_)
        if as_json:
            render.json_line({"id": id_, "state": shown.state, "result": shown.result, "error": shown.error_text})
        else:
            tail = f": {render.safe(shown.error_text)}" if shown.error_text and shown.state != GOOD else ""
            print(f"job {id_} {shown.state}{tail}")
    return 0 if all(state == GOOD for state in ends.values()) else 1


def follow(
    found: Access,
    ids: Sequence[int],
    *,
    quiet: bool = False,
    labels: Sequence[str] = (),
    goes_on: Callable[[], bool] = lambda: True,
) -> Iterator[tuple[int, str]]:
    """Give (id, state) of each job as it comes to an end, or to a question, while showing how far the others are.

    It ends before them when ``goes_on``, which is asked at every look, says no.
    """
    left = dict.fromkeys(ids)
    names = dict(zip(ids, labels or [f"job {id_}" for id_ in ids], strict=True))
    waiter = Waiter(found.paths.runtime, ("ends",), f"command-{os.getpid()}")
    live = found.live()
    try:
        with _view(names, quiet=quiet) as view:
            while left:
                for id_, state in history.ended(found.ledger, left).items():
                    del left[id_]
                    view.show([Stand(id=id_, state=state, done=1, total=1)])
                    yield id_, state
                if left and not goes_on():
                    return
                if left:
                    view.show([stand(found, live, id_) for id_ in islice(left, SHOWN_MOST)])
                    waiter.wait(LOOK_MS)
    finally:
        live.close()
        waiter.close()


def stand(found: Access, live: Live, id_: int) -> Stand:
    """How far a job is: by its parts if it is split, else by what its handler says."""
    state = history.state(found.ledger, id_)
    notes = processes.progress_of(live, id_)
    gathered = splits.progress(found.ledger, id_)
    if gathered:
        parts, folded, measured = gathered
        at_work = sum(note.done / note.total for note in notes if note.ordinal >= folded and 0 <= note.done < note.total)
        return Stand(id=id_, state=state, done=min(parts, folded + measured + at_work), total=parts, unit="parts")
    note = next((note for note in notes if note.ordinal < 0 and note.total), None)
    return Stand(id=id_, state=state, done=note.done if note else 0, total=note.total if note else 0)


@contextmanager
def _view(names: dict[int, str], *, quiet: bool) -> Iterator[View]:
    if quiet:
        yield _Silent()
    elif sys.stderr.isatty():
        from appliance.cli.render_progress import bars

        with bars(names) as view:
            yield view
    else:
        yield _Lines(names=names)


class _Silent:
    def show(self, stands: Sequence[Stand]) -> None:
        """Show nothing: a program reads."""


@dataclass(slots=True, kw_only=True)
class _Lines:
    """A plain line now and then, for a pipe or a log."""

    names: dict[int, str]
    shown: dict[int, tuple[str, int]] = field(default_factory=dict)

    def show(self, stands: Sequence[Stand]) -> None:
        """Print a line for a job whose state, or tenth of the way, is new."""
        for each in stands:
            tenth = int(10 * each.done / each.total) if each.total else 0
            if self.shown.get(each.id) != (each.state, tenth):
                self.shown[each.id] = (each.state, tenth)
                share = f" {10 * tenth} %" if each.total and each.state in ("leased", "gathering") else ""
                render.note(f"{render.safe(self.names[each.id])}: {each.state}{share}")
