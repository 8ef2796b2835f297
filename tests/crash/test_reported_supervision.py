"""What supervisors of others did wrong: gave up, spun, filled the log, took a slow start or a box that stood still for a hang."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from appliance.clock import SYSTEM
from appliance.log import LINE_BYTES_MAX
from appliance.site import boot
from tests.crash.conftest import Stage
from tests.crash.facts import gone, times_woken, until
from tests.crash.stage import QUICK, SILENT_MS
from tests.crash.troupe import Troupe

pytestmark = pytest.mark.crash


def test_an_outage_uses_nothing_up_and_its_end_is_found_alone(stage: Stage) -> None:
    """Degraded, it goes on trying at the slow pace; within one such pace after the line is back, it is at work."""
    troupe = stage(("a", "mended"), ("b", "steady"))
    until(lambda: len([death for death in troupe.deaths() if death["degraded"]]) >= 2, what="two deaths at the slow pace")
    assert troupe.seen("a") == []
    (troupe.folder / "line").touch()
    back = SYSTEM.boot()
    up = troupe.up("a")
    assert SYSTEM.boot() - back < 2 * QUICK.most_ms
    assert troupe.living("a") == [up]
    assert {death["name"] for death in troupe.deaths()} == {"a"}


def test_a_slow_start_is_not_taken_for_a_hang(stage: Stage) -> None:
    """It was silent for twice as long as it may be when it is up, and it is still the first."""
    began = SYSTEM.boot()
    troupe = stage(("a", "slow"))
    first = troupe.up("a")
    assert SYSTEM.boot() - began >= 2 * SILENT_MS
    assert (troupe.seen("a"), troupe.deaths()) == ([first], [])


def test_a_box_that_stood_still_kills_nobody(stage: Stage, tmp_path: Path) -> None:
    """The supervisor was kept from running as its children were: their silence proves nothing, and the watchdog is fed again."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(str(tmp_path / "notify"))
        manager.settimeout(20)
        troupe = stage(("a", "steady"), ("b", "steady"), address=str(tmp_path / "notify"))
        children = [troupe.up("a"), troupe.up("b")]
        all_of_it = [troupe.process.pid, *children]
        for pid in all_of_it:
            os.kill(pid, signal.SIGSTOP)
        until(lambda: all((found := boot.stat(pid)) is not None and found.stopped for pid in all_of_it), what="the standstill")
        still = SYSTEM.boot()
        until(lambda: SYSTEM.boot() - still > 2 * SILENT_MS, what="the time that a child may be silent, twice")
        heard(manager)
        for pid in reversed(all_of_it):
            os.kill(pid, signal.SIGCONT)
        fed = 0
        while fed < 10:
            fed += b"WATCHDOG=1" in manager.recv(4096)
        assert (troupe.living("a"), troupe.living("b"), troupe.deaths()) == (children[:1], children[1:], [])
        assert "box is starved" in (troupe.folder / "log").read_text()


def heard(manager: socket.socket) -> None:
    """Take all that was said before."""
    manager.settimeout(0)
    try:
        while True:
            manager.recv(4096)
    except BlockingIOError:
        manager.settimeout(20)


WAITS_IN_THE_KERNEL = """
import os, signal, sys, threading
open_it = [(os.POSIX_SPAWN_OPEN, 0, sys.argv[1], os.O_RDONLY, 0)]
desk = threading.Thread(target=lambda: os.posix_spawn('/bin/true', ['true'], {}, file_actions=open_it))
desk.start()
desk.join()
signal.pause()
"""


def test_a_holder_of_the_turn_whose_disk_does_not_answer_is_left_alone(stage: Stage) -> None:
    """It is no more frozen than the disk is; when the disk has answered and it still holds the turn, it is judged."""
    troupe = stage(("a", "steady"))
    troupe.up("a")
    fifo = troupe.folder / "disk"
    os.mkfifo(fifo)
    holder = subprocess.Popen([sys.executable, "-c", WAITS_IN_THE_KERNEL, str(fifo)])
    until(lambda: boot.waits_for_disk(holder.pid), what="a thread that waits in the kernel")
    since = SYSTEM.boot()
    (troupe.folder / "held.new").write_text(f"{holder.pid} {boot.start_ticks(holder.pid)} 7 {since.ms}")
    (troupe.folder / "held.new").replace(troupe.folder / "held")
    until(lambda: SYSTEM.boot() - since > 5_000 and times_woken(troupe.process.pid) > 5, what="ten times the limit of a turn")
    assert not gone(holder.pid)
    os.close(os.open(fifo, os.O_WRONLY))
    assert holder.wait(20) == -signal.SIGKILL


@pytest.mark.parametrize("kind", ["crasher", "raiser"])
def test_a_child_that_can_never_live_fills_no_log(stage: Stage, kind: str) -> None:
    """Two lines a death at most, and the policy has under sixty deaths in four hours: half a megabyte."""
    troupe = stage(("a", kind))
    until(lambda: len(troupe.deaths()) >= 6, what="six deaths")
    log = lines_about_deaths(troupe)
    assert len(log) <= 2 * (len(troupe.deaths()) + 1)
    assert max(map(len, log)) <= LINE_BYTES_MAX


def lines_about_deaths(troupe: Troupe) -> list[bytes]:
    """All lines of the log but those about the plan."""
    lines = (troupe.folder / "log").read_bytes().splitlines(keepends=True)
    return [line for line in lines if b'"event": "plan"' not in line and b'"child": "prepare"' not in line]
