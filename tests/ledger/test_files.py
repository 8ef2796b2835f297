"""The files of outcomes: what a late holder, a stranger's folder and a lost byte may do to them."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from pathlib import Path

import pytest

from appliance.coordination import files
from appliance.coordination.work import Fence, Folding, JobId, Lease
from appliance.errors import StorageFailingError

FOLD = Lease(noun="split", id=JobId(7), attempt=1, fence=3)
FRESH = Folding(parts=9, folded=0, carried=None, output_fence=0, output_bytes=0, answers=())


def unnamed(id_: int, attempt: int) -> Collection[str]:
    """No row names any file."""
    return ()


def test_p3_a_late_holder_of_the_fold_takes_nothing_from_the_one_after_it(tmp_path: Path) -> None:
    """It was held up before it took over; by then the next one has an output of its own."""
    next_one = files.take_over(tmp_path, replace(FOLD, fence=4), FRESH)
    files.append(next_one, 0, b"folded")
    files.take_over(tmp_path, FOLD, FRESH)
    assert next_one.read_bytes() == b"folded"


def test_p3_the_next_holder_clears_away_what_earlier_ones_left(tmp_path: Path) -> None:
    """Outputs that no row names, and a part that is folded; a part that waits, and the recorded output, stay."""
    for fence in (1, 2, 3):
        files.take_over(tmp_path, replace(FOLD, fence=fence), FRESH)
    recorded = files.output_path(tmp_path, FOLD, 3)
    for name in ("part.0.1.content", "part.1.1.content", "job.output"):
        (recorded.parent / name).touch()
    mine = files.take_over(tmp_path, replace(FOLD, fence=5), replace(FRESH, folded=1, output_fence=3))
    assert {left.name for left in mine.parent.iterdir()} == {"job.output.3", "job.output.5", "part.1.1.content", "job.output"}


@pytest.mark.parametrize("fence", [4, 6], ids=["after a step", "after a death"])
def test_p7_an_output_that_lost_bytes_is_not_filled_with_zeros(tmp_path: Path, fence: Fence) -> None:
    """The ledger says how long it is: a shorter one is a finding, not a file."""
    files.append(files.take_over(tmp_path, FOLD, FRESH), 0, b"fold")
    with pytest.raises(StorageFailingError):
        files.take_over(tmp_path, replace(FOLD, fence=fence), replace(FRESH, output_fence=3, output_bytes=6))


def test_p12_a_sweep_leaves_alone_what_is_not_ours(tmp_path: Path) -> None:
    """Somebody's folder, file or link among the jobs' ends no sweep, and stays."""
    for name in ("7/1/job.x", "notes/today/job.x", "8/old/job.x", "elsewhere/1/ledger"):
        target = tmp_path / files.FOLDER / name
        target.parent.mkdir(parents=True)
        target.touch()
    (tmp_path / files.FOLDER / "readme").touch()
    (tmp_path / files.FOLDER / "9").symlink_to(tmp_path / files.FOLDER / "elsewhere")
    (tmp_path / files.FOLDER / "7/1/folder").mkdir()
    assert sum(files.sweep(tmp_path, unnamed)) == 2
    left = {str(path.relative_to(tmp_path / files.FOLDER)) for path in (tmp_path / files.FOLDER).rglob("*") if path.is_file()}
    assert left == {"readme", "notes/today/job.x", "8/old/job.x", "elsewhere/1/ledger"}
