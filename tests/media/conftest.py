"""What the tests of films share: the films, made once and kept in pytest's cache, and the outcome of one worker for each."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from appliance import Reject
from appliance.pipelines.media import handlers
from tests.media import films
from tests.media.driver import Outcome, drive

Film = Callable[[str], Path]
Measured = Callable[[str], Outcome]


@pytest.fixture(scope="session")
def film(request: pytest.FixtureRequest) -> Film:
    """Gives the path of a film by its name."""
    kept = request.config.cache.mkdir("films")
    return lambda name: films.film(Path(kept), name)


@pytest.fixture(scope="session")
def measured(film: Film) -> Measured:
    """Gives the outcome of a film as one worker makes it, part after part."""

    @cache
    def outcome(name: str) -> Outcome:
        done = drive(handlers.qc, {"path": str(film(name))})
        assert not isinstance(done, Reject), done.what
        return done

    return outcome


@pytest.fixture(scope="session")
def samples() -> list[Path]:
    """Real films, from Python packages that carry some."""
    script = Path(__file__).parents[2] / "scripts" / "sample_films.py"
    found = subprocess.run([sys.executable, str(script)], check=True, capture_output=True, text=True, timeout=110).stdout
    return [Path(line) for line in found.splitlines()]
