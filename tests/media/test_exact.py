"""The promise of the exact path: the same bytes whatever the order, and the numbers of one continuous decode."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from appliance import Reject
from appliance.pipelines.media import framedata, handlers, seams
from tests.media import films, reference
from tests.media.conftest import Film, Measured
from tests.media.driver import Outcome, drive

pytestmark = pytest.mark.media


def kinds(names: list[str]) -> list[object]:
    """The films as parameters; those whose like is among the others are left to the long variants."""
    return [pytest.param(name, marks=pytest.mark.soak) if name in films.LONG_ONLY else name for name in names]


ALL = kinds(films.ALL)
UNDAMAGED = kinds(films.UNDAMAGED)


def shuffled(seed: int) -> Callable[[int], Sequence[int]]:
    """An order of completion, as several workers make it."""
    return lambda count: random.Random(seed).sample(range(count), count)


def report_of(outcome: Outcome) -> Any:  # noqa: ANN401 - a report is JSON
    """The report of an outcome."""
    return json.loads(outcome.files["report.json"])


def frames_of(outcome: Outcome, folder: Path) -> Any:  # noqa: ANN401 - a table of numpy
    """All frames of the frame data."""
    path = folder / "frames"
    path.write_bytes(outcome.output)
    return np.concatenate([block.frames for block in framedata.blocks(path)])


@pytest.mark.parametrize("name", ALL)
def test_the_order_in_which_parts_end_changes_no_byte(name: str, film: Film, measured: Measured) -> None:
    """Report and frame data are those of one worker."""
    other = drive(handlers.qc, {"path": str(film(name))}, order=shuffled(len(name)))
    assert isinstance(other, Outcome)
    assert other.files == measured(name).files
    assert other.output == measured(name).output
    assert other.result == measured(name).result


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("name", ALL)
def test_no_order_at_all_changes_a_byte(name: str, seed: int, film: Film, measured: Measured) -> None:
    """Many orders for every film."""
    other = drive(handlers.qc, {"path": str(film(name))}, order=shuffled(seed))
    assert isinstance(other, Outcome)
    assert (other.files, other.output) == (measured(name).files, measured(name).output)


@pytest.mark.parametrize("name", UNDAMAGED)
def test_an_undamaged_film_has_the_frames_of_one_continuous_decode(
    name: str, film: Film, measured: Measured, tmp_path: Path
) -> None:
    """Every column of every frame, the differences across the seams among them."""
    expected = reference.continuous(film(name))
    found = frames_of(measured(name), tmp_path)
    for column in expected.dtype.names or ():
        assert np.array_equal(found[column], expected[column]), column


@pytest.mark.parametrize("name", UNDAMAGED)
def test_every_seam_of_an_undamaged_film_is_proven(name: str, measured: Measured) -> None:
    """Eight frames alike at each, and a digest of them."""
    report = report_of(measured(name))
    assert [seam["state"] for seam in report["seams"]["listed"]] == [seams.PROVEN] * (report["plan"]["parts"] - 1)
    assert all(seam["frames"] == 8 and len(seam["proof"]) == 32 for seam in report["seams"]["listed"])


@pytest.mark.parametrize("name", ALL)
def test_every_packet_is_accounted_for(name: str, measured: Measured) -> None:
    """It was shown, or the report names the reason and the packet's range."""
    report = report_of(measured(name))
    assert sum(report["coverage"].values()) == report["plan"]["packets"]
    reasons = [reason for reason in report["coverage"] if reason != "shown"]
    listed = {reason: sum(event["length"] for event in report["events"][reason]["listed"]) for reason in reasons}
    assert listed == {reason: report["coverage"][reason] for reason in reasons}


@pytest.mark.parametrize("name", ALL)
def test_a_film_is_cut_as_the_plan_promises(name: str, measured: Measured) -> None:
    """Parts of 300 to 1000 packets wherever there are keys; the last one may be a little longer or shorter."""
    starts = report_of(measured(name))["plan"]["starts"]
    assert all(300 <= after - before <= 1000 for before, after in pairwise(starts))


@pytest.mark.parametrize("name", ["h264_open.ts", "h264_intra_refresh.mp4", "size_change.ts"])
def test_a_dead_part_is_a_hole_and_not_a_dead_film(name: str, film: Film, measured: Measured) -> None:
    """The report says which packets were not measured; what stands on both sides is as it was."""
    holed = drive(handlers.qc, {"path": str(film(name))}, order=shuffled(1), dead=frozenset({1}))
    assert isinstance(holed, Outcome)
    report, whole = report_of(holed), report_of(measured(name))
    begin, end = whole["plan"]["starts"][1:3]
    holes = report["events"]["dead"]["listed"]
    lost = sum(hole["length"] for hole in holes)
    assert report["verdict"] == "error"
    assert all(begin <= hole["packet"] <= end + 3 for hole in holes)
    assert abs(lost - (end - begin)) <= 3
    assert report["seams"]["unseen"] == 2
    assert report["coverage"]["shown"] == whole["coverage"]["shown"] - lost


def test_a_film_of_dead_parts_still_has_a_report(film: Film) -> None:
    """Nothing was shown, and the report says so."""
    holed = drive(handlers.qc, {"path": str(film("h264_open.ts"))}, dead=frozenset(range(10)))
    assert isinstance(holed, Outcome)
    report = report_of(holed)
    assert report["coverage"]["dead"] == report["plan"]["packets"] == 1300
    assert report["picture"]["frames"] == 0


def test_a_film_with_one_key_is_one_part(measured: Measured) -> None:
    """There is nowhere to cut it, and the plan says so."""
    plan = report_of(measured("h264_one_key.mp4"))["plan"]
    assert (plan["keys"], plan["parts"], plan["starts"]) == (1, 1, [0])


def test_a_part_without_a_true_key_is_measured_again_with_a_run_in(measured: Measured) -> None:
    """Intra refresh: the picture is whole only some frames after its key, so the first measure does not fit."""
    outcome = measured("h264_intra_refresh.ts")
    assert outcome.redos == {1: 1, 2: 1, 3: 1}
    assert [seam["run_in"] for seam in report_of(outcome)["seams"]["listed"]] == [1, 1, 1]


def test_real_films_are_measured_or_refused_by_name(samples: list[Path]) -> None:
    """The same bytes in two orders; films of which only the head was kept hold no packet, and are told so."""
    for path in samples:
        one, two = (drive(handlers.qc, {"path": str(path)}, order=order) for order in (range, shuffled(3)))
        if isinstance(one, Reject):
            assert one == two
            assert one.what.startswith("no-packets: ")
        else:
            assert isinstance(two, Outcome)
            assert (one.files, one.output) == (two.files, two.output)
