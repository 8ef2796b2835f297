"""``appliance run``: where it cannot start, it says why."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from tests.crash.appliance_stage import Appliance
from tests.e2e.manners import refused

pytestmark = pytest.mark.crash


def test_it_runs_until_it_is_asked_to_stop(nowhere: Appliance) -> None:
    """With exit code 0, by TERM and by the keyboard's INT alike."""
    for number in (signal.SIGTERM, signal.SIGINT):
        nowhere.start()
        assert nowhere.command("status").returncode == 0
        assert nowhere.stop(number) == 0
        assert nowhere.command("status").returncode == 1


def test_a_second_one_is_refused(box: Appliance) -> None:
    """With exit code 75; the first goes on."""
    before = box.pids()
    refused(box, "run", code=75, says="another supervisor works on")
    assert box.pids() == before


def test_a_state_folder_that_is_a_file_is_refused(nowhere: Appliance, tmp_path: Path) -> None:
    """In words, not by a trace."""
    (tmp_path / "state").touch()
    refused(nowhere, "run", code=73, says="cannot be made")


def test_a_state_folder_that_cannot_be_made_is_refused(nowhere: Appliance, tmp_path: Path) -> None:
    """A file stands where a folder above it should be."""
    (tmp_path / "state").symlink_to(tmp_path / "settings.toml" / "below")
    refused(nowhere, "run", code=73, says="cannot be made")


def test_a_damaged_ledger_is_named_and_left_alone(nowhere: Appliance) -> None:
    """Exit code 74; not a byte of it is changed."""
    nowhere.start()
    nowhere.ended(*nowhere.submit("note", list(range(300))))
    nowhere.stop()
    ledger = nowhere.paths.state / "ledger.db"
    content = bytearray(ledger.read_bytes())
    content[4096:40960] = os.urandom(36864)
    ledger.write_bytes(content)
    (nowhere.paths.state / "stopped-cleanly").unlink()
    refused_at_start = nowhere.command("run")
    assert refused_at_start.returncode == 74, refused_at_start.stderr
    assert "the ledger is damaged" in refused_at_start.stderr
    assert ledger.read_bytes() == content
