"""Runs: neighbours of which something is true, found part by part and carried over the seams.

A run that reaches the end of a part stays open, four numbers in the fold's state, and is closed by a later part or by the end of
the film.  What comes out is the same as from one pass over the whole film, however it was cut.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from appliance.pipelines.media import records
from appliance.pipelines.media.records import Events

Open = tuple[int, int, int, int]  # first, count, packet of the first, packet of the last


@dataclass(frozen=True, slots=True)
class Stretch:
    """A piece of the film in which runs are looked for: positions count from ``base``; ``packets`` are the ordinals in it."""

    base: int
    packets: NDArray[np.int32]
    last: bool


def advance(kind: int, truth: NDArray[np.bool_], stretch: Stretch, before: Open | None, least: int) -> tuple[Events, Open | None]:
    """The runs of at least ``least`` that end in this stretch, and the one that is still open at its end."""
    edges = np.flatnonzero(np.diff(truth, prepend=False, append=False))
    runs = [
        (stretch.base + int(first), int(end - first), int(stretch.packets[first]), int(stretch.packets[end - 1]))
        for first, end in zip(edges[::2], edges[1::2], strict=True)
    ]
    if before is not None:
        runs = joined(before, runs, stretch.base)
    still = None
    if runs and not stretch.last and sum(runs[-1][:2]) == stretch.base + len(truth):
        still = runs.pop()
    kept = [(kind, *run) for run in runs if run[1] >= least]
    return np.array(kept, records.EVENT), still


def joined(before: Open, runs: list[Open], base: int) -> list[Open]:
    """The open run, made longer by the first of ``runs`` if that begins where it stopped."""
    if runs and runs[0][0] == base:
        first = runs[0]
        return [(before[0], before[1] + first[1], before[2], first[3]), *runs[1:]]
    return [before, *runs]
