"""Pages that processes share, on a filesystem in memory that is full: an error in words, and nobody dies of a look."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from appliance.errors import StorageFullError
from appliance.runtime.work.page import Page
from appliance.store.turnstile import TurnPage

NONCE = "0123456789abcdef"
PAGES = pytest.mark.parametrize("make", [TurnPage, lambda folder: Page.create(folder, NONCE)], ids=["turnstile", "work"])


@PAGES
def test_a_page_has_its_room_before_anybody_touches_it(tmp_path: Path, make: Callable[[Path], TurnPage | Page]) -> None:
    """A hole would be filled at the first look, and where it cannot be, the kernel ends whoever looks: the supervisor too."""
    page = make(tmp_path)
    (path,) = tmp_path.iterdir()
    assert path.stat().st_blocks * 512 >= path.stat().st_size == 4096
    page.close()


@PAGES
def test_a_page_that_finds_no_room_is_an_error_in_words(
    tmp_path: Path, make: Callable[[Path], TurnPage | Page], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It says where there is none."""

    def refuse(_descriptor: int, _offset: int, _size: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "posix_fallocate", refuse)
    with pytest.raises(StorageFullError, match="runtime folder"):
        make(tmp_path)
