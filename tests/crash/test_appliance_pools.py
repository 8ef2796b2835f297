"""A pool fails alone: crash loops, modules that do not import, jobs over their limits."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import pytest

from tests.crash.appliance_stage import Appliance, appliance, settings
from tests.crash.facts import until
from tests.crash.gates import Gate

pytestmark = pytest.mark.crash


def deaths(box: Appliance) -> list[dict[str, object]]:
    """What the supervisor wrote down."""
    path = box.paths.state / "deaths.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def events(box: Appliance) -> list[dict[str, object]]:
    """What its log says, without the stacks of those that crashed."""
    return [json.loads(line) for line in box.log().splitlines() if line.startswith("{")]


def test_p13_a_job_that_kills_its_worker_is_buried(tmp_path: Path) -> None:
    """Each death counts, so it cannot go round for ever; others are done meanwhile."""
    gate = Gate(tmp_path / "gate")
    with appliance(tmp_path) as box:
        (poison, locked) = (*box.submit("crash", [gate.payload()]), *box.submit("locked.crash", [gate.payload()]))
        others = box.submit("note", list(range(20)))
        shown = box.ended(poison, locked)
        assert [(each.state, each.failures, each.attempt, each.error_class) for each in shown] == 2 * [
            ("dead", 3, 3, "died.signal")
        ]
        assert {each.state for each in box.ended(*others)} == {"done"}
        assert {death["name"] for death in deaths(box)} <= {"worker-default-1", "worker-default-2"}


def test_p13_a_crash_loop_degrades_its_pool_alone(tmp_path: Path) -> None:
    """The pool goes on at the slow pace, which the deaths file says; the other pool does not notice."""
    with appliance(tmp_path) as box:
        box.submit("crash", [{"signal": signal.SIGKILL, "n": number} for number in range(6)])
        until(lambda: any(death["degraded"] for death in deaths(box)), seconds=30, what="the degradation")
        (shown,) = box.ended(*box.submit("locked.note", [1]))
        assert (shown.state, shown.failures) == ("done", 0)
        assert {death["sort"] for death in deaths(box)} == {"worker/default"}
        assert box.command("status").returncode == 0
        assert box.stop() == 0


@pytest.mark.parametrize(
    "source",
    [
        "raise ValueError('as asked')",
        "import nothing_of_this_name",
        "def broken(:",
        "x = 1",
        "raise SystemExit(0)",
        "import os; os._exit(0)",
        "import os; os.kill(os.getpid(), 4)",
        "from tests.vendor_handlers import *",
    ],
)
def test_p13_a_module_that_does_not_import_is_a_finding_while_others_work(tmp_path: Path, source: str) -> None:
    """It is named with its fault, and its kinds are missing; nothing else is, whatever it does to the process."""
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop" / "broken_shop.py").write_text(source)
    with appliance(tmp_path, settings(modules=("tests.vendor_handlers", "broken_shop")), start=False) as box:
        box.start(PYTHONPATH=str(tmp_path / "shop"))
        assert {shown.state for shown in box.ended(*box.submit("note", [1]), *box.submit("locked.note", [1]))} == {"done"}
        findings = [line for line in events(box) if line["level"] == "error"]
        assert {finding["module"] for finding in findings} == {"broken_shop"}


def test_p13_a_job_over_its_limit_ends_alone(tmp_path: Path) -> None:
    """In place its worker is ended with it, in a hand only the hand; what waits is done by the others meanwhile."""
    gate = Gate(tmp_path / "gate")
    with appliance(tmp_path) as box:
        ids = [*box.submit("spin", [gate.payload()]), *box.submit("locked.spin", [gate.payload()])]
        gate.calls(2)
        others = box.submit("note", list(range(20)))
        assert {each.state for each in box.ended(*others)} == {"done"}
        shown = box.ended(*ids)
        assert [(each.state, each.failures, each.error_class) for each in shown] == 2 * [("dead", 1, "died.time_limit")]
