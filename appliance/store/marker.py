"""The marker of a clean stop: the WAL was empty and nobody held anything.  The first write after it takes it away."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

MARKER: Final = "stopped-cleanly"


def put(state: Path) -> None:
    """After a clean stop: the next start need not check."""
    (state / MARKER).touch(mode=0o600)


def take_away(state: Path) -> bool:
    """Whether it was there; a power cut does not bring it back."""
    try:
        (state / MARKER).unlink()
    except FileNotFoundError:
        return False
    descriptor = os.open(state, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    return True
