"""Handing work in: in bulk against one by one, and by several processes at once."""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Iterator
from multiprocessing.connection import Connection, wait
from pathlib import Path
from statistics import median

from appliance.coordination import queue
from appliance.store.ledger import Ledger, Place
from tests.bench import ledgers
from tests.bench.figures import Figure, figure, percentile

BULK = 1_000
PROCESSES = 4


def bulk(folder: Path, *, quick: bool) -> Iterator[Figure]:
    """Rows a second in commits of a thousand, against commits of one; in turns."""
    ratios, rows_us, commits_ms = [], [], []
    with ledgers.place(folder, "bulk") as where:
        ledger = ledgers.made(where)
        for number in range(5 if quick else 20):
            one_s = median(_submit(ledger, 1, f"one{number}.{each}") for each in range(20))
            row_s = median(_submit(ledger, BULK, f"many{number}.{each}") for each in range(3)) / BULK
            ratios.append(one_s / row_s)
            rows_us.append(row_s * 1e6)
            commits_ms.append(one_s * 1e3)
        ledger.close()
    note = f"{median(rows_us):.1f} us a row, {median(commits_ms):.2f} ms a single commit"
    yield figure("bulk durable submit / single commits", ratios, least=20, note=note)


def _submit(ledger: Ledger, count: int, prefix: str) -> float:
    ready = ledgers.bound("bench.noop", count, prefix)
    began = time.perf_counter()
    with ledger.write() as tx:
        queue.submit_bound(tx, ready)
    return time.perf_counter() - began


def crowd(folder: Path, *, quick: bool) -> Iterator[Figure]:
    """Four processes submit at once, each job a commit: the slowest hundredth, and the least share of a process."""
    waits, shares, notes = [], [], []
    for number in range(2 if quick else 7):
        with ledgers.place(folder, f"crowd{number}") as where:
            ledger = ledgers.made(where)
            commit_s = median(_submit(ledger, 1, f"alone{each}") for each in range(100))
            ledger.close()
            times = _crowd(where, 2.0 if quick else 4.0)
        late_s = percentile([each for many in times for each in many], 0.99)
        waits.append(late_s / (0.1 + 2 * commit_s))
        shares.append(min(map(len, times)) * PROCESSES / sum(map(len, times)))
        notes.append((late_s * 1e3, commit_s * 1e3, max(map(max, times)) * 1e3))
    late, commit, worst = (median(column) for column in zip(*notes, strict=True))
    note = f"{late:.1f} ms, the longest {worst:.1f} ms, a commit alone {commit:.2f} ms"
    yield figure("submit by 4: p99 of the wait / (100 ms + 2 commits)", waits, most=1, note=note)
    yield figure("submit by 4: least of a process / its fair share", shares, least=0.5)


def _crowd(where: Place, seconds: float) -> list[list[float]]:
    fork = multiprocessing.get_context("fork")
    pipes = [fork.Pipe() for _ in range(PROCESSES)]
    children = [fork.Process(target=_one_of, args=(where, theirs, seconds)) for _, theirs in pipes]
    for child in children:
        child.start()
    for _, theirs in pipes:
        theirs.close()  # so that a child that dies is seen
    ours = [each for each, _ in pipes]
    for each in ours:
        each.recv()  # all have opened the ledger
    for each in ours:
        each.send("go")
    _empty_wal(where, ours)
    times: list[list[float]] = [each.recv() for each in ours]
    for child in children:
        child.join()
    return times


def _empty_wal(where: Place, told: list[Connection]) -> None:
    """Once a second, as the steward does, until all have told."""
    ledger = ledgers.opened(where)
    left = list(told)
    while left:
        done = wait(left, timeout=1.0)
        left = [each for each in left if each not in done]
        ledger.checkpoint()
    ledger.close()


def _one_of(where: Place, pipe: Connection, seconds: float) -> None:
    ledger = ledgers.opened(where)
    pipe.send("ready")
    pipe.recv()
    until = time.perf_counter() + seconds
    times: list[float] = []
    while time.perf_counter() < until:
        times.append(_submit(ledger, 1, f"{id(pipe)}.{multiprocessing.current_process().pid}.{len(times)}."))
    ledger.close()
    pipe.send(times)
