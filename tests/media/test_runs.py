"""Runs that cross seams: cut anywhere, they are the runs of the whole."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from appliance.pipelines.media import runs

Found = list[tuple[int, ...]]


def in_pieces(truth: list[bool], cuts: list[int], least: int) -> Found:
    """The runs, found piece by piece."""
    edges = [0, *sorted({cut for cut in cuts if 0 < cut < len(truth)}), len(truth)]
    still: runs.Open | None = None
    found: Found = []
    for begin, end in pairwise(edges):
        ordinals = np.arange(begin, end, dtype=np.int32) * 2
        stretch = runs.Stretch(begin, ordinals, last=end == len(truth))
        events, still = runs.advance(3, np.array(truth[begin:end], bool), stretch, still, least)
        found += [tuple(map(int, event)) for event in events]
    assert still is None
    return found


@given(st.lists(st.booleans(), min_size=1, max_size=60), st.lists(st.integers(0, 60)), st.integers(1, 4))
def test_cuts_change_no_run(truth: list[bool], cuts: list[int], least: int) -> None:
    """However many cuts, also those inside a run, on its edge, or one after another."""
    assert in_pieces(truth, cuts, least) == in_pieces(truth, [], least)


def test_a_run_names_its_length_and_both_packets() -> None:
    """Kind, first, count, packet of the first and of the last."""
    assert in_pieces([False, True, True, True, False, True], [2], 2) == [(3, 1, 3, 2, 6)]


def test_an_empty_part_ends_an_open_run_only_if_it_is_the_last() -> None:
    """A dead part shows no frame: the run before it stays open for the next."""
    nothing = np.empty(0, bool)
    ordinals = np.empty(0, np.int32)
    events, still = runs.advance(0, nothing, runs.Stretch(10, ordinals, last=False), (5, 5, 5, 9), 1)
    assert (len(events), still) == (0, (5, 5, 5, 9))
    events, still = runs.advance(0, nothing, runs.Stretch(10, ordinals, last=True), (5, 5, 5, 9), 1)
    assert (len(events), still) == (1, None)
