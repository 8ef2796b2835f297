"""The box that the tests of the ledger share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.ledger.box import Box, Dial, found, place


@pytest.fixture
def box(tmp_path: Path) -> Iterator[Box]:
    """A fresh ledger with declared kinds."""
    dial = Dial()
    ledger = found(place(tmp_path), dial.clock())
    yield Box(ledger, dial)
    ledger.close()
