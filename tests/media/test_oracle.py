"""ffmpeg's own filters, run as a program over the whole film, agree on black runs and frame counts.

Only films with packets that a decoder or demuxer refuses may differ, and only by what docs/media.md explains.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from tests.media import films, oracle
from tests.media.conftest import Film, Measured
from tests.media.test_exact import ALL, report_of

pytestmark = pytest.mark.media

APART_PERMILLE = 50  # of the frames of a damaged film on whose damage two releases of FFmpeg stumble; see docs/media.md


def black_starts(report: Any, time_base: Fraction) -> list[Fraction]:  # noqa: ANN401 - a report is JSON
    """The seconds at which black begins; of a film without time stamps at its 25 frames a second."""
    listed = report["events"]["black"]["listed"]
    return [Fraction(event["frame"], 25) if event["from_pts"] is None else event["from_pts"] * time_base for event in listed]


@pytest.mark.parametrize("name", ALL)
def test_ffmpeg_finds_the_same_black_and_the_same_number_of_frames(name: str, film: Film, measured: Measured) -> None:
    """Times are compared to the six digits that ffmpeg prints."""
    report = report_of(measured(name))
    asked = oracle.opinion(film(name))
    refused = report["coverage"]["error"] or report["container"]["demux_error"]
    apart = asked.frames * APART_PERMILLE // 1000 if refused else 0
    assert abs(asked.frames - report["picture"]["frames"]) <= apart
    found = black_starts(report, Fraction(report["measured"]["time_base"]))
    assert len(found) == len(asked.black)
    assert all(abs(ours - theirs) <= ours / 100_000 for ours, theirs in zip(found, asked.black, strict=True))


@pytest.mark.parametrize("name", ["h264_closed.mp4", "prores.mov", "mpeg2_open.mxf"])
def test_black_is_as_long_as_it_was_made(name: str, measured: Measured) -> None:
    """Frames 750 to 824, whichever part they fell into."""
    (event,) = report_of(measured(name))["events"]["black"]["listed"]
    assert (event["frame"], event["length"]) == (750, 75)


def test_a_black_run_over_a_seam_is_one_event(measured: Measured) -> None:
    """The run is carried from part to part: no film of the tests has its black in two events unless it is damaged."""
    for name in (name for name in films.UNDAMAGED if name not in films.LONG_ONLY):
        assert report_of(measured(name))["events"]["black"]["runs"] <= (2 if name == "h264_glued.ts" else 1)
