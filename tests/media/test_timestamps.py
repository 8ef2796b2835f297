"""Findings in time stamps: ranges with totals, from the index alone."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from appliance.pipelines.media import packets, streams, timestamps
from appliance.pipelines.media.packets import NONE
from appliance.pipelines.media.profiles import Profile

PER_25TH = 3600
BASE = Fraction(1, 90_000)


def rows_of(dts: list[int], pts: list[int] | None = None) -> packets.Rows:
    """Rows with these time stamps."""
    rows = np.zeros(len(dts), packets.ROW)
    rows["dts"] = dts
    rows["pts"] = dts if pts is None else pts
    return rows


def found(rows: packets.Rows, container: str = "mpegts") -> dict[str, list[list[int]]]:
    """The ranges of each finding that there is."""
    said = timestamps.findings(rows, container, BASE, Profile())
    return {name: finding["listed"] for name, finding in said.items() if isinstance(finding, dict) and finding["packets"]}


def steady(count: int, start: int = 0) -> list[int]:
    """Stamps of 25 frames a second."""
    return [start + PER_25TH * number for number in range(count)]


def test_a_steady_film_has_no_finding() -> None:
    """With reordering or without."""
    assert found(rows_of(steady(50))) == {}
    reordered = [stamp + PER_25TH * (3 if number % 3 == 0 else 0) for number, stamp in enumerate(steady(51))]
    assert "gapped" not in found(rows_of(steady(51), reordered))


def test_neighbouring_packets_without_stamps_are_one_range() -> None:
    """Four packets in two ranges."""
    stamps = steady(20)
    for place in (3, 4, 5, 9):
        stamps[place] = NONE
    assert found(rows_of(stamps)) == {"missing": [[3, 3], [9, 1]]}


def test_a_gap_is_found_where_it_ends() -> None:
    """Ten seconds are missing before packet 25."""
    assert found(rows_of(steady(25) + steady(25, 900_000 + 25 * PER_25TH))) == {"gapped": [[25, 1]]}


def test_a_film_glued_from_two_steps_backward_once() -> None:
    """And its second half is not a thousand doubled stamps."""
    assert found(rows_of(steady(50) + steady(50))) == {"backward": [[50, 1]]}


def test_a_doubled_stamp_is_found() -> None:
    """The second of the two."""
    stamps = steady(20)
    stamps[7] = stamps[6]
    assert found(rows_of(stamps)) == {"doubled": [[7, 1]]}


def test_a_wrap_is_found_only_on_the_clock_that_wraps() -> None:
    """33 bits of 90 kHz in transport and program streams."""
    rows = rows_of(steady(20, timestamps.WRAP_TICKS - 10 * PER_25TH))
    assert found(rows) == {"wrapped": [[10, 1]]}
    assert found(rows, "mov,mp4,m4a,3gp,3g2,mj2") == {}


def test_a_variable_rate_is_no_gap() -> None:
    """Steps of up to half a second, or of four usual ones, are in order."""
    assert found(rows_of(list(np.cumsum([PER_25TH * (1 + number % 8) for number in range(60)])))) == {}


@given(st.sets(st.integers(0, 400)))
def test_ranges_hold_exactly_the_ordinals(ordinals: set[int]) -> None:
    """Nothing is lost, nothing is added, neighbours are one range."""
    said = timestamps.ranges(np.array(sorted(ordinals), np.int64))
    assert said["packets"] == len(ordinals)
    if said["ranges"] <= 100:
        again = {first + step for first, length in said["listed"] for step in range(length)}
        assert again == ordinals


def test_a_wall_of_ranges_is_cut_and_counted() -> None:
    """A hundred are listed, all are counted."""
    said = timestamps.ranges(np.arange(0, 10_000, 2))
    assert (said["packets"], said["ranges"], len(said["listed"])) == (5000, 5000, 100)


def test_the_span_is_from_the_first_to_the_end_of_the_last_frame() -> None:
    """25 frames of a 25th are a second."""
    assert streams.span_ms(rows_of(steady(25, 5000)), BASE) == 1000
    assert streams.span_ms(rows_of([NONE, NONE]), BASE) is None
    assert streams.span_ms(rows_of([NONE, 0, PER_25TH], [NONE] * 3), BASE) == 80
