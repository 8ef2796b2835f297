"""One supervisor on a state folder, and a question that disturbs nobody."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from appliance.errors import AlreadyRunningError
from appliance.runtime.supervision import alone
from tests.crash.facts import until


def test_a_second_supervisor_is_refused_and_the_next_is_not(tmp_path: Path) -> None:
    """The lock is free again as soon as its holder lets go."""
    with alone.hold(tmp_path):
        assert alone.held(tmp_path)
        with pytest.raises(AlreadyRunningError), alone.hold(tmp_path):
            pytest.fail("two were let in")
    assert not alone.held(tmp_path)
    with alone.hold(tmp_path):
        pass


def test_asking_creates_nothing_and_takes_nothing(tmp_path: Path) -> None:
    """A command that asks at the moment of a start does not refuse that start."""
    assert not alone.held(tmp_path)
    assert list(tmp_path.iterdir()) == []
    with alone.hold(tmp_path):
        pass
    asking = os.open(tmp_path / alone.LOCK, os.O_RDWR)
    for _ in range(100):
        assert not alone.held(tmp_path)
        with alone.hold(tmp_path):
            assert alone.held(tmp_path)
    os.close(asking)


def test_the_lock_dies_with_its_holder(tmp_path: Path) -> None:
    """A kill -9 leaves no pid file that somebody has to remove."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        with alone.hold(tmp_path):
            os.write(writer, b"!")
            signal.pause()
        os._exit(1)
    assert os.read(reader, 1) == b"!"
    assert alone.held(tmp_path)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    until(lambda: not alone.held(tmp_path), seconds=2, what="the end of the lock")
    os.close(reader)
    os.close(writer)
