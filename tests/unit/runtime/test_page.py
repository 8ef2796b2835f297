"""The page says what a process was doing, whatever moment it was killed at."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from appliance.clock import BootInstant
from appliance.runtime.work import page
from appliance.runtime.work.page import Page, Work

NONCE = "0123456789abcdef"


def work(job_id: int, ordinal: int | None = None) -> Work:
    """An attempt at a job."""
    return Work(job_id=job_id, attempt=3, started=BootInstant(1234), ordinal=ordinal)


def test_what_is_at_work_can_be_read_by_another_process(tmp_path: Path) -> None:
    """The reader opens the file, and shares nothing else with the writer."""
    mine = Page.create(tmp_path, NONCE)
    mine.begin(work(7, ordinal=5))
    assert page.read(tmp_path, NONCE) == work(7, ordinal=5)
    mine.end()
    assert page.read(tmp_path, NONCE) is None
    mine.close()


def test_a_process_without_a_page_was_doing_nothing(tmp_path: Path) -> None:
    """It died before it made one."""
    assert page.read(tmp_path, NONCE) is None
    page.remove(tmp_path, NONCE)


def test_a_page_outlives_its_writer_until_it_is_removed(tmp_path: Path) -> None:
    """Whoever frees the dead's jobs reads it first."""
    mine = Page.create(tmp_path, NONCE)
    mine.begin(work(7))
    mine.close()
    assert page.read(tmp_path, NONCE) == work(7)
    page.remove(tmp_path, NONCE)
    assert not (tmp_path / NONCE).exists()


def test_a_page_is_private_and_never_shared(tmp_path: Path) -> None:
    """Nobody else reads it, and a planted file or link is refused."""
    Page.create(tmp_path, NONCE).close()
    assert stat.S_IMODE((tmp_path / NONCE).stat().st_mode) == 0o600
    with pytest.raises(FileExistsError):
        Page.create(tmp_path, NONCE)
    (tmp_path / "fedcba9876543210").symlink_to("/etc/hostname")
    with pytest.raises(OSError, match="symbolic links"):
        page.read(tmp_path, "fedcba9876543210")


def test_a_name_that_is_no_nonce_is_refused(tmp_path: Path) -> None:
    """The name comes from a row, and a row could say ``../ledger.db``."""
    with pytest.raises(ValueError, match="not a nonce"):
        page.read(tmp_path, "../ledger.db")


@given(st.integers(1, 20), st.integers(0, page.RECORD.size - 1))
def test_a_write_cut_at_any_byte_leaves_the_note_before_it(notes: int, cut: int) -> None:
    """A kill in the middle of a note must neither lose nor invent an attempt."""
    folder = Path(f"/dev/shm/page-{os.getpid()}")  # noqa: S108 - memory, private to this process by its name
    folder.mkdir(mode=0o700, exist_ok=True)
    mine = Page.create(folder, NONCE)
    try:
        for job_id in range(1, notes + 1):
            mine.begin(work(job_id))
        before = (folder / NONCE).read_bytes()
        mine.begin(work(notes + 1))
        after = (folder / NONCE).read_bytes()
    finally:
        mine.close()
        page.remove(folder, NONCE)
        folder.rmdir()
    start = (notes + 1) % 2 * page.COPY_BYTES
    torn = before[:start] + after[start : start + cut] + before[start + cut :]
    assert page.newest(torn[: 2 * page.COPY_BYTES]) == work(notes)
    assert page.newest(after[: 2 * page.COPY_BYTES]) == work(notes + 1)
