"""Signals at random moments of start, work and reload, for a long time: a stop always ends, and a kill leaves nothing."""

from __future__ import annotations

import random
import signal
import time
from pathlib import Path

import pytest

from tests.crash import troupe
from tests.crash.facts import gone, until
from tests.crash.troupe import Troupe, descendants

pytestmark = [pytest.mark.crash, pytest.mark.soak, pytest.mark.timeout(14_400)]

ROUNDS = 10_000


def pass_time(seconds: float) -> None:
    """Let a moment pass."""
    end = time.monotonic() + seconds
    until(lambda: time.monotonic() >= end, what="the moment")


def one_round(begun: Troupe, generator: random.Random) -> None:
    """Some reloads at random moments, then a stop or a kill."""
    pass_time(generator.uniform(0.2, 0.9))
    for _ in range(generator.randint(0, 3)):
        begun.send(signal.SIGHUP)
        pass_time(generator.uniform(0, 0.1))
    below = descendants(begun.process.pid)
    if generator.random() < 0.5:
        begun.process.kill()
        begun.process.wait()
    else:
        begun.send(signal.SIGTERM)
        assert begun.process.wait(10) in (0, -signal.SIGTERM)
    until(lambda: all(map(gone, below)), seconds=2, what="end of everything")


def test_no_moment_is_wrong_for_a_stop_or_a_kill(tmp_path: Path) -> None:
    """Also while children crash, reload, and have hands at work."""
    generator = random.Random(1)
    for number in range(ROUNDS):
        folder = tmp_path / str(number)
        folder.mkdir()
        troupe.write_plan(folder, ("a", "steady"), ("w", "maker"), ("s", "steward"), ("bad", "crasher"))
        begun = troupe.start(folder)
        try:
            one_round(begun, generator)
        finally:
            begun.close()
