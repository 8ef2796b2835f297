"""One appliance at work for all commands, and one place where there is none."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.crash.appliance_stage import Appliance, appliance


@pytest.fixture(scope="module")
def box(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Appliance]:
    """An appliance that runs."""
    with appliance(tmp_path_factory.mktemp("e2e")) as found:
        yield found


@pytest.fixture
def nowhere(tmp_path: Path) -> Iterator[Appliance]:
    """A place where no appliance ever ran."""
    with appliance(tmp_path, start=False) as found:
        yield found
