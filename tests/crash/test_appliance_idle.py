"""An appliance without work costs nothing: no write, hardly any CPU, little memory."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from appliance.clock import SYSTEM
from tests.crash.appliance_stage import Appliance, appliance, settings
from tests.crash.facts import until

pytestmark = pytest.mark.crash
SECONDS = 60
CPU_SHARE_MOST = 0.002
PSS_BYTES_MOST = 60 << 20


def written(pid: int) -> int:
    """What a process caused to be sent to storage (proc_pid_io(5))."""
    found = re.search(r"^write_bytes: (\d+)$", Path(f"/proc/{pid}/io").read_text(), re.MULTILINE)
    assert found is not None
    return int(found[1])


def run_ns(pid: int) -> int:
    """How long its threads have been on a processor, in nanoseconds; clock ticks would be too coarse."""
    return sum(int(path.read_text().split()[0]) for path in Path(f"/proc/{pid}/task").glob("*/schedstat"))


def pss_bytes(pid: int) -> int:
    """Its memory, with its share of what it shares."""
    found = re.search(r"^Pss:\s+(\d+) kB$", Path(f"/proc/{pid}/smaps_rollup").read_text(), re.MULTILINE)
    assert found is not None
    return int(found[1]) << 10


def at_rest(box: Appliance) -> bool:
    """Whether the steward has emptied the WAL after the last write."""
    with box.ledger() as ledger:
        return ledger.wal_bytes() == 0


@pytest.mark.timeout(150)
def test_p19_an_idle_appliance_writes_nothing_and_takes_nearly_nothing(tmp_path: Path) -> None:
    """A supervisor, a steward and two workers, after they have had some work to do; nobody dies meanwhile."""
    with appliance(tmp_path, settings(modules=("appliance.pipelines.probe",))) as box:
        box.ended(*box.submit("probe", list(range(200))))
        until(lambda: at_rest(box), what="the emptying of the WAL")
        members = box.members()
        assert len(members) == 4
        before = {pid: (written(pid), run_ns(pid)) for pid in members}
        began = SYSTEM.boot()
        until(lambda: SYSTEM.boot() - began >= SECONDS * 1_000 or box.members() != members, seconds=2 * SECONDS)
        passed_ns = (SYSTEM.boot() - began) * 1_000_000
        after = {pid: (written(pid), run_ns(pid)) for pid in members}
        assert {pid: after[pid][0] - before[pid][0] for pid in members} == dict.fromkeys(members, 0)
        assert sum(after[pid][1] - before[pid][1] for pid in members) / passed_ns < CPU_SHARE_MOST
        assert sum(pss_bytes(pid) for pid in members) < PSS_BYTES_MOST
