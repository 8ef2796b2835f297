"""``appliance status``: how it is, for people and for programs."""

from __future__ import annotations

import signal

import pytest

from tests.crash.appliance_stage import Appliance
from tests.crash.facts import until
from tests.e2e.manners import plain

pytestmark = pytest.mark.crash


def test_it_tells_how_an_appliance_is(box: Appliance) -> None:
    """Exit code 0 while it runs; all in one object, and on plain lines in a pipe."""
    box.ended(*box.submit("note", [1]))
    (view,) = box.json("status")
    assert (view["running"], view["storage"]) == (True, "well")
    assert {name: int(pid) for name, pid in view["processes"].items()} == box.pids()
    assert view["jobs"]["done"] >= 1
    assert view["kinds"]["note"] == 1
    done = box.command("status")
    assert done.returncode == 0
    assert plain(done.stdout)
    assert len(done.stdout.splitlines()) == len(view)


def test_it_tells_that_one_does_not_run(nowhere: Appliance) -> None:
    """Exit code 1 after a stop and after a kill; the dead are not listed."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        nowhere.start()
        nowhere.stop(number)
        until(lambda: not nowhere.members(), seconds=2, what="the end of all processes")
        done = nowhere.command("status", "--json")
        assert done.returncode == 1
        assert '"running": false' in done.stdout
        assert '"processes": {}' in done.stdout
