"""A worker that the steward never saw to live dies: what it held is free all the same."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from appliance.site import boot
from tests.crash.appliance_stage import Appliance, appliance, settings
from tests.crash.facts import gone, until
from tests.crash.gates import Gate

pytestmark = pytest.mark.crash


def remove_live(box: Appliance) -> None:
    """What a clean-up of temporary folders, or a logout, does to the database of the living."""
    for path in box.paths.runtime.glob(f"live-{boot.boot_id()[:8]}.db*"):
        path.unlink()


def kill(pid: int) -> None:
    """As the kernel does it when memory is short; it is dead when this returns."""
    os.kill(pid, signal.SIGKILL)
    until(lambda: gone(pid), what="the death")


def test_p6_a_worker_that_entered_elsewhere_is_freed_when_it_dies(tmp_path: Path) -> None:
    """The steward reads the removed ``live.db``, the new worker entered its successor; the supervisor tells of the death."""
    gate = Gate(tmp_path / "gate")
    with appliance(tmp_path, settings(workers=1)) as box:
        worker = box.pids()["worker-default-1"]
        remove_live(box)
        kill(worker)
        (id_,) = box.submit("hold", [gate.payload()])
        stranger = gate.calls(1)[0]
        kill(stranger.pid)
        again = gate.calls(2)[1]
        assert again.attempt == 2
        gate.open()
        (shown,) = box.ended(id_)
        assert (shown.state, shown.failures) == ("done", 1)
