"""The file of deaths is bounded, and never a reason to stop."""

from __future__ import annotations

from pathlib import Path

import pytest

from appliance import limits
from appliance.runtime.supervision import deaths
from appliance.runtime.supervision.causes import Cause
from appliance.runtime.supervision.deaths import History, Line

BOOT = "11111111-2222-3333-4444-555555555555"


def line(number: int, boot_id: str = BOOT) -> Line:
    """A death."""
    return Line(
        boot_id=boot_id,
        name="worker-0",
        sort="worker",
        pid=number + 1,
        start_ticks=1,
        cause=Cause.MEMORY,
        code=-9,
        at_boot_ms=number,
        lived_ms=5,
        after_ms=500,
    )


def test_a_new_supervisor_reads_what_the_last_one_wrote(tmp_path: Path) -> None:
    """A supervisor that crashes does not start all over again."""
    path = tmp_path / "deaths"
    for number in range(3):
        History(path).record(line(number))
    assert list(History(path).lines) == [line(0), line(1), line(2)]


def test_a_torn_last_line_costs_only_itself(tmp_path: Path) -> None:
    """The next death makes the file whole again."""
    path = tmp_path / "deaths"
    path.write_bytes(deaths.encode(line(0)) + deaths.encode(line(1))[:-20])
    history = History(path)
    assert list(history.lines) == [line(0)]
    history.record(line(2))
    assert path.read_bytes() == deaths.encode(line(0)) + deaths.encode(line(2))


def test_rubbish_lines_are_skipped(tmp_path: Path) -> None:
    """Flash may give back anything."""
    path = tmp_path / "deaths"
    path.write_bytes(b"\x00\xff\n{}\n[1]\n" + deaths.encode(line(0)))
    assert list(History(path).lines) == [line(0)]


def test_the_file_stays_bounded(tmp_path: Path) -> None:
    """Twice what is kept, and then it is cut to what is kept."""
    path = tmp_path / "deaths"
    history = History(path)
    sizes = set()
    for number in range(5 * limits.DEATHS_KEPT):
        history.record(line(number))
        sizes.add(path.read_bytes().count(b"\n"))
    assert max(sizes) == 2 * limits.DEATHS_KEPT
    assert [each.pid for each in History(path).lines] == [each.pid for each in history.lines]
    assert len(history.lines) == limits.DEATHS_KEPT


def test_a_death_that_cannot_be_written_is_remembered_all_the_same(tmp_path: Path) -> None:
    """The policy needs it, disk or no disk."""
    (tmp_path / "deaths").mkdir()
    history = History(tmp_path / "deaths")
    with pytest.raises(IsADirectoryError):
        history.record(line(0))
    assert list(history.lines) == [line(0)]


def test_a_file_that_somebody_filled_is_read_at_its_end_and_made_small(tmp_path: Path) -> None:
    """No file can stop the supervisor, or take its memory."""
    path = tmp_path / "deaths"
    path.write_bytes(b"x" * (2 * limits.DEATHS_BYTES_MAX) + b"\n" + deaths.encode(line(0)))
    history = History(path)
    assert list(history.lines) == [line(0)]
    history.record(line(1))
    assert path.read_bytes() == deaths.encode(line(0)) + deaths.encode(line(1))


def test_only_deaths_of_this_boot_count(tmp_path: Path) -> None:
    """Times of two boots cannot be compared."""
    history = History(tmp_path / "deaths")
    history.record(line(0, boot_id="99999999-2222-3333-4444-555555555555"))
    history.record(line(1))
    assert history.of_boot(BOOT) == [line(1).death()]
