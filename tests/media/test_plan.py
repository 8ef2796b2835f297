"""Where a film is cut: a pure function of its packets and the profile."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from appliance.pipelines.media import packets, plan
from appliance.pipelines.media.profiles import Profile

PROFILE = Profile()
KEYS = st.lists(st.integers(1, 400), min_size=1, max_size=60)


def keys_at(distances: list[int]) -> NDArray[np.int64]:
    """Key packets from the distances between them, the first at 0."""
    return np.cumsum([0, *distances])


def rows_with(keys: dict[int, int], count: int) -> packets.Rows:
    """Rows of which some have flags."""
    rows = np.zeros(count, packets.ROW)
    for ordinal, bits in keys.items():
        rows["flags"][ordinal] = bits
    return rows


@given(KEYS, st.integers(1, 500))
def test_cuts_are_at_keys_and_far_enough_apart(distances: list[int], rest: int) -> None:
    """Never below the minimum; above the maximum only where no key lies between."""
    keys = keys_at(distances)
    packets_in_all = int(keys[-1]) + rest
    cuts = plan.cuts(keys, packets_in_all, PROFILE)
    assert set(cuts) <= set(keys.tolist())
    for before, after in pairwise([0, *cuts]):
        assert after - before >= PROFILE.part_frames_min
        between = keys[(keys >= before + PROFILE.part_frames_min) & (keys < after)]
        assert after - before <= PROFILE.part_frames_max or len(between) == 0


@given(KEYS)
def test_the_last_part_is_not_a_crumb(distances: list[int]) -> None:
    """At least half of the shortest part, unless it is the whole film."""
    keys = keys_at(distances)
    cuts = plan.cuts(keys, int(keys[-1]) + 1, PROFILE)
    assert not cuts or keys[-1] + 1 - cuts[-1] >= PROFILE.part_frames_min // 2


def test_a_key_that_is_not_shown_is_no_place_to_cut() -> None:
    """The pictures before the start of an edit list never come out of the decoder."""
    rows = rows_with({0: packets.KEY, 400: packets.KEY | packets.DISCARD, 500: packets.KEY}, 1000)
    assert plan.cuttable(rows).tolist() == [0, 500]


def test_parts_grow_with_the_film_up_to_a_thousand_frames() -> None:
    """Long films get longer parts before they get more of them."""
    assert [plan.aim(packets, PROFILE) for packets in (1_000, 100_000, 2_000_000)] == [300, 390, 1000]


def test_a_key_before_the_aim_is_taken_when_the_next_is_too_far() -> None:
    """A long film whose keys lie 700 apart is cut at each of them and not at every second one."""
    keys = np.arange(0, 700_000, 700)
    assert plan.next_cut(keys, 0, 1000, PROFILE) == 700


def test_the_hash_knows_film_engine_profile_and_cuts() -> None:
    """Anything else, and it would be another plan under the same name."""
    rows = rows_with({0: packets.KEY, 400: packets.KEY}, 800)
    other = rows_with({0: packets.KEY, 401: packets.KEY}, 800)
    basis = {"film": "a", "engine": "b"}
    hashes = {
        plan.plan(rows, PROFILE, basis)["hash"],
        plan.plan(other, PROFILE, basis)["hash"],
        plan.plan(rows, Profile(gap_ms=1), basis)["hash"],
        plan.plan(rows, PROFILE, {**basis, "film": "c"})["hash"],
    }
    assert len(hashes) == 4
    assert plan.plan(rows, PROFILE, basis) == plan.plan(rows.copy(), PROFILE, dict(basis))


@given(st.lists(st.booleans(), min_size=1, max_size=300), st.integers(0, 299), st.integers(0, 20))
def test_a_run_in_starts_at_an_earlier_key(keys: list[bool], ordinal: int, back: int) -> None:
    """So many keys before, or at the film's start."""
    ordinal = min(ordinal, len(keys) - 1)
    rows = rows_with({place: packets.KEY for place, key in enumerate(keys) if key}, len(keys))
    before = [place for place in range(ordinal) if keys[place]]
    expected = ordinal if back == 0 else (before[-back] if len(before) >= back else 0)
    assert packets.key_before(rows, ordinal, back) == expected
