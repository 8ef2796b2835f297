"""A sync fails, the kernel takes the lost pages for clean, the appliance restarts and goes on, and later the power goes.

The model of the disk has the kernel's page cache in front of it: what a refused sync lost is read as if it were there, and a later
sync succeeds without writing it, unless something makes the same page dirty again.
"""

from __future__ import annotations

import random
import sys
from pathlib import Path

import pytest

from appliance import errors
from appliance.store import recovery
from appliance.store.ledger import LEDGER, Ledger, Place
from appliance.store.turnstile import TurnPage
from tests.crash.powercut_vfs import Disk, Op, Policy, Trace, recorded
from tests.crash.test_power_cut import found_wrong
from tests.crash.workload import Workload
from tests.ledger.box import Dial, found, place

pytestmark = pytest.mark.crash

WAL = f"{LEDGER}-wal"
POLICIES: tuple[Policy, ...] = ("drop", "keep")


def before(where: Place, trace: Trace, dial: Dial, refuse: int) -> Workload:
    """A workload that stops at the sync that is refused."""
    work = Workload((found(where, dial.clock()),), dial, random.Random(refuse), trace.note)
    work.ledgers[0].checkpoint()
    with work.commit():
        pass  # the state as found is the first
    trace.refuse = refuse
    try:
        for _ in range(60):
            work.act()
    except errors.StorageFailingError:
        pass  # and that is what was asked for
    work.ledgers[0].close()
    return work


def restart(where: Place, trace: Trace, dial: Dial, *, safely: bool) -> None:
    """What ``prepare`` does; or, in its place, only open the latch."""
    if safely:
        content = (where.state / WAL).read_bytes()
        trace.ops += [Op("write", WAL, 0, content), Op("sync", WAL)]  # done by the system's calls, which no VFS sees
        assert recovery.recover(where, dial.clock(), 1)
        return
    page = TurnPage(where.runtime)
    page.open_latch()
    page.close()


def losses(folder: Path, refuse: int, *, safely: bool) -> list[str]:
    """Refuse one sync, restart, go on for some commits, and cut everywhere after the restart."""
    images, name = folder / "images", f"lost-{folder.name}"
    images.mkdir(parents=True)
    with recorded(name) as trace:
        where, dial = place(folder, vfs=name), Dial()
        work = before(where, trace, dial, refuse)
        again = len(trace.ops)
        restart(where, trace, dial, safely=safely)
        work.ledgers = (Ledger(where, dial.clock(), 2),)
        work.held = []
        for _ in range(3):
            work.submit()
        work.ledgers[0].close()
    disk, low, high, wrong = Disk(garbles=False, cache={}), 1, 1, []
    for number, op in enumerate(trace.ops):
        low, high = (op.at if op.what == "ack" else low), (op.at if op.what == "begin" else high)
        disk.apply(op)
        if number >= again:
            found_ones = [found_wrong(images, disk.image(policy, random.Random(0)), work.states, low, high) for policy in POLICIES]
            wrong += [each for each in found_ones if each]
    return wrong


@pytest.fixture(autouse=True)
def _meant(monkeypatch: pytest.MonkeyPatch) -> None:
    """The engine cannot hand on what a VFS raises while it cleans up; here that is meant."""
    monkeypatch.setattr(sys, "unraisablehook", lambda *_: None)


@pytest.mark.parametrize("refuse", range(12))
def test_p1_a_lost_sync_a_restart_and_a_power_cut_lose_nothing_acknowledged(tmp_path: Path, refuse: int) -> None:
    """Whichever sync was refused: of a commit, or of a checkpoint."""
    assert losses(tmp_path / "x", refuse, safely=True) == []


def test_p1_a_latch_that_is_only_opened_loses_acknowledged_work(tmp_path: Path) -> None:
    """So the search can see it: commits behind a lost page are acknowledged, and gone with the power."""
    assert any(losses(tmp_path / str(refuse), refuse, safely=False) for refuse in range(12))
