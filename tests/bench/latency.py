"""How soon work starts: on an idle appliance, and again after the death of its worker."""

from __future__ import annotations

import os
import signal
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Final

from appliance.coordination import queue
from appliance.coordination.work import Submission
from appliance.store.ledger import Ledger
from tests.bench import ledgers, running
from tests.bench.figures import Figure, figure
from tests.bench.ledgers import Stopwatch
from tests.bench.running import Running

LATE_S: Final = 5.0
DEATHS_A_ROUND: Final = 10  # a round has its own appliance: the back-off after many deaths is not what is measured
SPARE: Final = 2


class Asker:
    """Hands in one job at a time, and hears when it starts."""

    def __init__(self, appliance: Running, ear: socket.socket) -> None:
        """Open the appliance's ledger."""
        self.ledger: Ledger = ledgers.opened(appliance.place)
        self.ear = ear
        self.watch = Stopwatch()
        self.watch.watch(self.ledger)
        self.number = 0
        self.commits_ms: list[float] = []

    def ask(self, kind: str) -> int:
        """One job, durable when this returns; its id."""
        self.number += 1
        ready = [queue.bindings(Submission(kind=kind, payload=self.ear.getsockname(), work_id=str(self.number)))]
        began = time.clock_gettime_ns(time.CLOCK_BOOTTIME)
        with self.ledger.write() as tx:
            (answer,) = queue.submit_bound(tx, ready)
        self.commits_ms.append((self.watch.durable_ns - began) / 1e6)
        return answer.id


def idle(folder: Path, *, quick: bool) -> Iterator[Figure]:
    """From the end of a submit's commit to the start of its job, on an idle appliance of two workers."""
    starts_ms: list[float] = []
    with running.run(folder, "idle", default=2) as appliance, running.ear(appliance.place.runtime) as ear:
        asker = Asker(appliance, ear)
        for _ in range(50 if quick else 300):
            id_ = asker.ask("bench.mark")
            told = running.heard(ear, LATE_S)
            starts_ms.append(LATE_S * 1e3 if told is None else (told[0] - asker.watch.durable_ns) / 1e6)
            running.await_end(asker.ledger, appliance.place.runtime, id_)
        asker.ledger.close()
    commit_ms = median(asker.commits_ms)
    samples = [each / (2 * commit_ms + 2) for each in starts_ms]
    note = f"{median(starts_ms):.2f} ms; a commit takes {commit_ms:.2f} ms"
    yield figure("idle to start / (2 commits + 2 ms)", samples, most=1, note=note)


def killed(folder: Path, *, quick: bool) -> Iterator[Figure]:
    """From ``kill -9`` of a worker at work to the next start of its job, while a worker is free."""
    again_ms: list[float] = []
    commits_ms: list[float] = []
    for number in range(3 if quick else 20):
        with (
            running.run(folder, f"killed{number}", default=DEATHS_A_ROUND + SPARE) as appliance,
            running.ear(appliance.place.runtime) as ear,
        ):
            asker = Asker(appliance, ear)
            again_ms += [_kill(asker) for _ in range(DEATHS_A_ROUND)]
            commits_ms += asker.commits_ms
            asker.ledger.close()
    bound_ms = 200 + 3 * median(commits_ms)
    in_time = sum(each <= bound_ms for each in again_ms)
    note = (
        f"{in_time} of {len(again_ms)}; median {median(again_ms):.1f} ms, longest {max(again_ms):.1f} ms, bound {bound_ms:.1f} ms"
    )
    yield figure("first deaths started again in 200 ms + 3 commits", [in_time / len(again_ms)], least=0.975, note=note)
    yield figure("death to next start / (200 ms + 3 commits)", [each / bound_ms for each in again_ms])


def _kill(asker: Asker) -> float:
    """Kill the worker of a new job; ms until it started again."""
    id_ = asker.ask("bench.hold")
    first = _hear(asker.ear, id_, 1)
    if first is None:
        return LATE_S * 1e3
    killed_ns = time.clock_gettime_ns(time.CLOCK_BOOTTIME)
    os.kill(first[1], signal.SIGKILL)
    again = _hear(asker.ear, id_, 2)
    return LATE_S * 1e3 if again is None else (again[0] - killed_ns) / 1e6


def _hear(ear: socket.socket, id_: int, attempt: int) -> tuple[int, int] | None:
    """When an attempt of a job started, and in which process."""
    while told := running.heard(ear, LATE_S):
        at_ns, job, number, pid = told
        if (job, number) == (id_, attempt):
            return at_ns, pid
    return None
