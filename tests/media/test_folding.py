"""The fold's pieces: seams, coverage, frame data, the report's JSON."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from appliance.pipelines.media import canonical, carry, coverage, framedata, packets, records, seams, signs, verdicts
from appliance.pipelines.media.coverage import REASONS, SHOWN, Stock
from appliance.pipelines.media.profiles import Profile

HOW = {"start": 300, "run_in": 0, "landing": "time-0"}


def frames_of(ordinals: list[int], **columns: object) -> records.Frames:
    """Frames of 320x180 from these packets, each with a checksum of its own."""
    frames = np.zeros(len(ordinals), records.FRAME)
    frames["ordinal"] = ordinals
    frames["width"], frames["height"], frames["pixels"], frames["depth"] = 320, 180, b"yuv420p", 8
    frames["crc"][:, 0] = np.array(ordinals, np.int64) + 1
    for name, values in columns.items():
        frames[name] = values
    return frames


def test_a_seam_is_proven_by_equal_frames_whatever_their_first_difference() -> None:
    """The predecessor of the first frame is out of the second part's sight."""
    overlap, frames = frames_of([300, 301, 302], sad=[5, 1, 1]), frames_of([300, 301, 302, 303], sad=[-1, 1, 1, 1])
    seam = seams.compare(overlap, frames, 300, HOW)
    assert (seam.state, seam.frames) == (seams.PROVEN, 3)
    assert seam.proof == seams.proof(overlap)


def test_one_other_checksum_makes_a_seam_unproven() -> None:
    """And the report says how many frames were equal before it."""
    frames = frames_of([300, 301, 302])
    frames["crc"][1, 2] = 7
    assert seams.compare(frames_of([300, 301, 302]), frames, 300, HOW).state == seams.UNPROVEN
    assert seams.compare(frames_of([300, 301, 302]), frames, 300, HOW).frames == 1


def test_a_part_that_shows_nothing_does_not_prove_its_seam() -> None:
    """It is asked for again; only when it began at the film's start is there nothing more to try."""
    nothing = frames_of([])
    assert seams.compare(frames_of([300]), nothing, 300, HOW).state == seams.UNPROVEN
    assert seams.compare(frames_of([300]), nothing, 300, {**HOW, "start": 0}).state == seams.UNSEEN
    assert seams.compare(nothing, frames_of([300]), 300, HOW).state == seams.UNSEEN


def test_a_part_behind_a_dead_one_is_asked_for_again_unless_it_begins_with_its_key() -> None:
    """Nothing proves its seam, but a missing key says that the run-in was too short."""
    for ordinals, again in (([300, 301], False), ([364, 365], True), ([], True)):
        frames = frames_of(ordinals)
        assert seams.wanting(seams.compare(frames_of([]), frames, 300, HOW), frames) is again


def test_run_ins_grow_and_end() -> None:
    """1, 3, 7 and 15 keys; none beyond the film's start."""
    tried = [0]
    while (further := seams.longer({"start": 300, "run_in": tried[-1]})) is not None:
        tried.append(further)
    assert tried == [0, 1, 3, 7, 15]
    assert seams.longer({"start": 0, "run_in": 1}) is None


def stock(**changes: Any) -> Stock:  # noqa: ANN401 - fields of a dataclass
    """Ten packets from 100 on, all of a size."""
    rows = np.zeros(110, packets.ROW)
    rows["size"] = 1
    facts = {"begin": 100, "end": 110, "rows": rows, "ahead": [], "dead": False, "dead_before": False}
    return Stock(**{**facts, **changes})


def why(held: Stock, frames: records.Frames, errors: list[int] | None = None) -> list[str]:
    """The reason of each packet."""
    table = np.array([(ordinal, -1) for ordinal in errors or []], records.ERROR)
    return ["shown" if reason == SHOWN else REASONS[reason] for reason in coverage.reasons(held, frames, table)]


def test_a_packet_is_shown_by_its_part_or_by_the_one_before() -> None:
    """Pictures before a key, coded after it, belong to the part before."""
    assert why(stock(ahead=[101, 102]), frames_of([100, *range(103, 110)])) == ["shown"] * 10
    assert coverage.ahead(stock(), frames_of([100, 111, 112])) == [111, 112]


def test_every_packet_that_is_not_shown_has_a_reason() -> None:
    """The strongest one that holds."""
    held = stock()
    held.rows["size"][104] = 0
    held.rows["flags"][105] = packets.DISCARD
    found = why(held, frames_of([100, 101, 102, 106, 107, 108, 109]), errors=[103])
    assert found[3:6] == ["error", "empty", "discarded"]
    assert why(held, frames_of([100]))[9] == "hidden"
    assert why(stock(dead=True), frames_of([])) == ["dead"] * 10
    assert why(stock(dead_before=True), frames_of([100, *range(103, 110)]))[1:3] == ["dead", "dead"]


def test_pictures_that_lean_on_nothing_at_the_start_are_leading() -> None:
    """An open group of pictures at the start of a film: its first two pictures lean on what was cut away."""
    held = stock(begin=0, end=10)
    assert why(held, frames_of([2, 5, 6, 7, 8, 9])) == ["leading"] * 2 + ["shown"] + ["leading"] * 2 + ["shown"] * 5


@given(st.lists(st.integers(0, 2**31 - 1), max_size=40), st.integers(0, 2**16 - 1))
def test_frame_data_comes_back_as_it_was_written(ordinals: list[int], low: int) -> None:
    """Constant columns and plain ones, with and without frames."""
    block = framedata.Block(
        part=3,
        meta={"dead": False, "seam": None},
        frames=frames_of(ordinals, low=low),
        errors=np.array([(1, -2)], records.ERROR),
        events=np.array([(1, 2, 3, 4, 5)] * 2, records.EVENT),
    )
    with tempfile.NamedTemporaryFile() as file:
        file.write(framedata.encode(block) * 2)
        file.flush()
        read = list(framedata.blocks(Path(file.name)))
        assert [len(found.events) for found in framedata.blocks(Path(file.name), with_frames=False)] == [2, 2]
    assert len(read) == 2
    for found in read:
        assert (found.part, found.meta) == (3, block.meta)
        for name in ("frames", "errors", "events"):
            assert np.array_equal(getattr(found, name), getattr(block, name))


def test_something_else_is_no_frame_data(tmp_path: Path) -> None:
    """It is not read as if it were."""
    (tmp_path / "frames").write_bytes(b"x" * 100)
    with pytest.raises(ValueError, match="something else"):
        list(framedata.blocks(tmp_path / "frames"))
    with pytest.raises(ValueError, match="no index"):
        packets.read(tmp_path / "frames")


def test_an_index_is_mapped_as_it_was_packed(tmp_path: Path) -> None:
    """Missing stamps and positions stay missing."""
    rows = packets.row(5, None, None, 7, packets.KEY) + packets.row(-1, 2, 3, 0, 0)
    (tmp_path / "index").write_bytes(packets.pack({"plan": {"starts": [0, 1]}}, rows))
    index = packets.read(tmp_path / "index")
    assert index.rows.tolist() == [(5, packets.NONE, packets.NONE, 7, packets.KEY), (-1, 2, 3, 0, 0)]
    assert [index.limits(part) for part in range(2)] == [(0, 1), (1, 2)]


def test_signs_need_a_frame_before() -> None:
    """The first frame of a film repeats nothing, stands still after nothing, and is no change."""
    frames = frames_of([0, 1, 2], sad=[-1, 0, 0])
    frames["crc"][1:] = frames["crc"][0]
    before = np.concatenate([np.zeros(1, records.FRAME), frames])[:3]
    seen = signs.Sight(frames, before, Profile())
    assert signs.repeat(seen).tolist() == [False, True, True]
    assert signs.freeze(seen).tolist() == [False, True, True]
    assert signs.changed(seen).tolist() == [False, False, False]


@pytest.mark.parametrize(
    ("sad", "depth", "still"), [(14_400, 8, True), (14_401, 8, False), (57_600, 10, True), (57_601, 10, False)]
)
def test_standing_still_is_a_mean_difference_of_a_quarter_level(sad: int, depth: int, still: object) -> None:
    """At any depth."""
    frames = frames_of([1], sad=sad, depth=depth)
    assert signs.freeze(signs.Sight(frames, frames, Profile())).tolist() == [still]


def test_the_state_is_small_however_many_shapes_a_film_has() -> None:
    """After a number of them, the rest are counted together."""
    held = carry.Carry()
    for width in range(1000):
        carry.tally(held, frames_of([width], width=width))
    assert held.frames == sum(held.shapes.values()) == 1000
    assert len(held.shapes) == 33
    assert len(canonical.encode(held.as_json())) < 4096


def test_canonical_json_is_one_writing_of_a_value() -> None:
    """Sorted, without spaces, in ASCII, and never with a float."""
    assert canonical.encode({"b": [1, None], "a": "ä"}) == b'{"a":"\\u00e4","b":[1,null]}\n'
    with pytest.raises(TypeError):
        canonical.encode({"a": [{"b": 0.5}]})  # type: ignore[dict-item]


@pytest.mark.parametrize(
    ("statuses", "expected"),
    [
        (["pass", "not_measured"], "pass"),
        (["pass", "warn"], "warn"),
        (["warn", "fail"], "fail"),
        (["fail", "error"], "error"),
        (["not_measured"], "not_measured"),
    ],
)
def test_the_verdict_is_the_worst_that_any_test_says(statuses: list[str], expected: str) -> None:
    """An error of ours is worst: it says that the film was not judged."""
    assert verdicts.verdict([{"id": "x", "status": status, "count": 0} for status in statuses]) == expected
