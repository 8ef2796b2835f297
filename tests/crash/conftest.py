"""A stage for tests that kill: whatever they leave is gone afterwards."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.crash import troupe
from tests.crash.troupe import Troupe

Stage = Callable[..., Troupe]


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    """Starts a supervisor with a plan of (name, kind)."""
    started: list[Troupe] = []

    def begin(*children: tuple[str, str], address: str = "") -> Troupe:
        if children:
            troupe.write_plan(tmp_path, *children)
        started.append(troupe.start(tmp_path, *([address] if address else [])))
        return started[-1]

    yield begin
    for each in started:
        each.close()
