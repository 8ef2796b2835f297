"""No-op jobs end to end, on the real appliance and on Huey, with as many workers; in turns.

Both have all jobs waiting before a worker starts, so neither pays for intake here, and both store results.  Counted is from the
end of the first fifth to the end of the last job, when all workers are up on either side.  Huey does one job a commit and has no
batches; that is what is compared.
"""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Final

from huey import SqliteHuey

from tests.bench import ledgers, running
from tests.bench.figures import Figure, figure

WORKERS: Final = (1, 2, 4)
CONSUMER: Final = (sys.executable, "-m", "huey.bin.huey_consumer", "tests.bench.peer.huey", "-q", "-n", "-C", "-k", "process")
LOOK_S: Final = 0.2
STILL_MOST: Final = 50
ENDS: Final = "SELECT at_ms FROM event WHERE move = 'finish' ORDER BY seq"
SETTLED: Final = 5  # the first fifth of the jobs is not counted: workers are still starting


def noops(folder: Path, *, quick: bool) -> Iterator[Figure]:
    """Jobs a second with 1, 2 and 4 workers, ours against Huey's."""
    jobs = 2_000 if quick else 8_000
    rates: dict[int, list[tuple[float, float]]] = {workers: [] for workers in WORKERS}
    for number in range(1 if quick else 3):
        for workers in WORKERS:
            rates[workers].append((_ours(folder, f"ours{number}.{workers}", workers, jobs), _theirs(folder, workers, jobs)))
    for workers, found in rates.items():
        ours, theirs = (median(column) for column in zip(*found, strict=True))
        note = f"{ours:,.0f} and {theirs:,.0f} jobs a second"
        samples = [mine / other for mine, other in found]
        yield figure(f"no-op jobs of {workers} workers / Huey's of {workers} processes", samples, least=5, note=note)
    yield from _large(folder, quick=quick)


def _large(folder: Path, *, quick: bool) -> Iterator[Figure]:
    """What the start weighs: ten times as many jobs."""
    jobs = 10_000 if quick else 40_000
    found = [
        (_ours(folder, f"large{number}", 2, jobs), _ours(folder, f"alone{number}", 1, jobs)) for number in range(1 if quick else 3)
    ]
    both, one = (median(column) for column in zip(*found, strict=True))
    note = f"{both:,.0f} and {one:,.0f} jobs a second, of {jobs:,} jobs"
    yield figure("no-op jobs of 2 workers / of 1 worker", [mine / other for mine, other in found], note=note)


def _ours(folder: Path, name: str, workers: int, jobs: int) -> float:
    with ledgers.place(folder, name) as where:
        ledger = ledgers.made(where)
        ledgers.fill(ledger, "bench.noop", jobs, "")
        with running.run(folder, name, default=workers):
            for id_ in range(max(1, jobs - 1_000), jobs + 1):
                running.await_end(ledger, where.runtime, id_)
            ends_ms = [at_ms for (at_ms,) in ledger.read(ENDS)]
        ledger.close()
    return rate(ends_ms) * 1e3


def rate(times: list[int]) -> float:
    """Jobs a unit of time, once it has settled."""
    first = len(times) // SETTLED
    return (len(times) - first) / (times[-1] - times[first])


def _theirs(folder: Path, workers: int, jobs: int) -> float:
    surroundings = os.environ | {"BENCH_HUEY": str(folder / "huey.db"), "PYTHONPATH": str(running.ROOT)}
    enqueue = f"from tests.bench import ledgers, peer; peer.fill({jobs}, ledgers.PAYLOAD)"
    subprocess.run([sys.executable, "-c", enqueue], env=surroundings, cwd=running.ROOT, check=True)
    peer = SqliteHuey(filename=surroundings["BENCH_HUEY"])
    with subprocess.Popen(
        [*CONSUMER, "-w", str(workers)], env=surroundings, cwd=running.ROOT, stderr=subprocess.DEVNULL
    ) as consumer:
        _await_results(peer, jobs, consumer.pid)
        consumer.send_signal(signal.SIGTERM)
    times: list[int] = [peer.serializer.deserialize(value) for value in peer.storage.result_items().values()]
    peer.storage.close()
    for left in folder.glob("huey.db*"):
        left.unlink()
    return rate(sorted(times)) * 1e9


def _await_results(peer: SqliteHuey, jobs: int, pid: int) -> None:
    """Wait for all results, or until none has come for a while: one that met a locked database is lost."""
    pidfd, stored, still = os.pidfd_open(pid), 0, 0
    while stored < jobs and still < STILL_MOST and not select.select([pidfd], [], [], LOOK_S)[0]:
        before, stored = stored, peer.storage.result_store_size()
        still = still + 1 if stored == before else 0
    os.close(pidfd)
