"""Anything happens to anybody, under load, at random: at the end each job has ended once, and the books agree."""

from __future__ import annotations

import contextlib
import os
import random
import signal
from collections import Counter
from pathlib import Path

import pytest

from appliance.clock import SYSTEM
from appliance.coordination import leases
from tests.crash.appliance_stage import Appliance, appliance, hands, settings
from tests.crash.facts import until

pytestmark = pytest.mark.crash
ACTS = ("kill", "kill", "kill", "pause", "hang up", "stop", "kill all", "steward")
ENDED = ("done", "dead", "unclear", "rejected", "cancelled")


def pause(milliseconds: float) -> None:
    """Let time pass; the acts are to come at random moments, so there is no fact to wait for."""
    end = SYSTEM.boot() + int(milliseconds)
    until(lambda: SYSTEM.boot() >= end)


def send(pid: int, number: signal.Signals) -> None:
    """A signal to a process that may be gone."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, number)


def act(box: Appliance, chance: random.Random) -> None:
    """Do one thing to the appliance."""
    assert box.process is not None
    living = box.pids()
    everybody = [*living.values(), *(hand for worker in living.values() for hand in hands(worker))]
    what = chance.choice(ACTS)
    if what in ("stop", "kill all"):
        box.stop(signal.SIGTERM if what == "stop" else signal.SIGKILL)
        until(lambda: not box.members(), seconds=2, what="the end of all processes")
        box.start()
    elif what == "hang up":
        box.process.send_signal(signal.SIGHUP)
    elif what == "steward" and "steward" in living:
        send(living["steward"], signal.SIGKILL)
    elif what in ("kill", "pause") and everybody:
        victim = chance.choice(everybody)
        send(victim, signal.SIGKILL if what == "kill" else signal.SIGSTOP)
        if what == "pause":
            pause(chance.randrange(400))
            send(victim, signal.SIGCONT)


def load(box: Appliance, chance: random.Random) -> list[int]:
    """A little of everything."""
    number = chance.randrange(1 << 30)
    return [
        *box.submit("note", [{"n": number + each} for each in range(chance.randrange(60))], priority=chance.randrange(-3, 4)),
        *box.submit("locked.note", [{"n": number + each} for each in range(5)]),
        *box.submit("say", ["follow", "retry", "reject", "unclear", "raise"]),
        *box.submit("crash", [{"until": chance.randrange(3), "n": number}]),
        *box.submit("slices", [{"parts": 12, "window": 4, "wait_ms": 5}]),
        *box.submit("locked.slices", [{"parts": 6, "window": 4, "wait_ms": 5}]),
    ]


def disagreements(box: Appliance) -> list[str]:
    """What the tables of a quiet ledger say that cannot be."""
    claims = "SELECT count(*) FROM event WHERE event.job_id = job.id AND noun = 'job' AND move = 'claim'"
    events = "SELECT count(*) FROM event WHERE event.job_id = job.id AND noun = 'job' AND move <> 'late'"
    queries = {
        "held": "SELECT holder FROM job WHERE holder IS NOT NULL UNION ALL SELECT holder FROM part WHERE holder IS NOT NULL",
        "attempts are not claims": f"SELECT id FROM job WHERE attempt <> ({claims})",  # noqa: S608 - no words of others
        "moves are not events": f"SELECT id FROM job WHERE moves <> ({events})",  # noqa: S608 - no words of others
        "done without result": "SELECT id FROM job WHERE (state = 'done') <> EXISTS (SELECT 1 FROM result WHERE job_id = id)",
        "two ends": "SELECT job_id FROM event WHERE noun = 'job' AND became = 'done' GROUP BY job_id HAVING count(*) > 1",
        "parts of what has ended": "SELECT part.job_id FROM part JOIN job ON job.id = part.job_id WHERE job.state <> 'gathering'",
    }
    with box.ledger() as ledger:
        return [f"{name}: {rows[:5]}" for name, query in queries.items() if (rows := ledger.read(query))]


@pytest.mark.parametrize(("seed", "acts"), [(1, 12), *(pytest.param(seed, 60, marks=pytest.mark.soak) for seed in range(2, 22))])
def test_p13_whatever_happens_each_job_ends_once_and_the_books_agree(tmp_path: Path, seed: int, acts: int) -> None:
    """Kills, pauses, reloads, stops and starts, of anybody, while work of all kinds comes in."""
    chance = random.Random(seed)
    with appliance(tmp_path, settings(workers=2, locked=2, stop_s=1)) as box:
        ids: list[int] = []
        for _ in range(acts):
            ids += load(box, chance)
            pause(chance.randrange(400))
            act(box, chance)
        shown = box.ended(*ids, seconds=60)
        states = Counter((each.kind, each.state) for each in shown)
        assert {state for (kind, state) in states if kind in ("note", "locked.note", "slices", "locked.slices")} == {"done"}, states
        with box.ledger() as ledger:
            until(lambda: not leases.holders(ledger), what="the end of all leases")
        assert disagreements(box) == []
