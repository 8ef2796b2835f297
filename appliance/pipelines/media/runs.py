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
    runs = joined(before, found(kind, truth, stretch), kind, stretch.base)
    still = None
    if len(runs) and not stretch.last and int(runs[-1]["first"]) + int(runs[-1]["count"]) == stretch.base + len(truth):
        last = runs[-1]
        still = (int(last["first"]), int(last["count"]), int(last["from_packet"]), int(last["to_packet"]))
        runs = runs[:-1]
    return runs[runs["count"] >= least], still


def found(kind: int, truth: NDArray[np.bool_], stretch: Stretch) -> Events:
    """The runs in this stretch, as if nothing were before or after it."""
    edges = np.flatnonzero(np.diff(truth, prepend=False, append=False))
    firsts, ends = edges[::2], edges[1::2]
    runs = np.empty(len(firsts), records.EVENT)
    runs["kind"] = kind
    runs["first"] = stretch.base + firsts
    runs["count"] = ends - firsts
    runs["from_packet"] = stretch.packets[firsts]
    runs["to_packet"] = stretch.packets[ends - 1]
    return runs


def joined(before: Open | None, runs: Events, kind: int, base: int) -> Events:
    """The runs with the open one in front, which is made longer by the first of them if that begins where it stopped."""
    if before is None:
        return runs
    first, count, from_packet, to_packet = before
    if len(runs) and runs[0]["first"] == base:
        count, to_packet, runs = count + int(runs[0]["count"]), int(runs[0]["to_packet"]), runs[1:]
    return np.concatenate([np.array([(kind, first, count, from_packet, to_packet)], records.EVENT), runs])
