"""Claiming beside a million rows that are none of the claimer's business."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Final

from appliance.clock import SYSTEM
from appliance.coordination import handin, kinds, queue, triggers
from appliance.coordination.handin import Returned
from appliance.coordination.outcomes import Done
from appliance.coordination.work import Claimed, Holder
from appliance.store import migrations
from appliance.store.engine import connect
from appliance.store.ledger import LEDGER, Ledger, Place
from tests.bench import handlers, ledgers
from tests.bench.figures import Figure, figure

ROWS: Final = 1_000_000
BATCH: Final = 32
HOLDER: Final = Holder("bench/1/1/bench")
READS: Final = kinds.reads([handlers.noop])
CLAIM: Final = (
    queue.SQL["ripen"],
    queue.SPLITS["ripen_parts"],
    queue.SQL["claim"],
    queue.SPLITS["claim_parts"],
    queue.SPLITS["claim_folds"],
)
FILL: Final = """
WITH RECURSIVE series (value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM series WHERE value < :rows)
INSERT INTO job (kind, work_id, version, state, rank, due_ms, schema, payload, failures_max, submitted_ms, ended_ms, move, actor,
                 moved_ms)
SELECT CASE value % 3 WHEN 0 THEN 'bench.foreign' ELSE 'bench.noop' END, 'old' || value, 1,
       CASE value % 3 WHEN 0 THEN 'ready' WHEN 1 THEN 'done' ELSE 'planned' END,
       value, CASE value % 3 WHEN 2 THEN 1 << 60 ELSE value END, 1, '{"text":"' || hex(zeroblob(90)) || '"}', 5, value,
       CASE value % 3 WHEN 1 THEN value END, 'submit', 'client', value
  FROM series
"""


def crowded(folder: Path, *, quick: bool) -> Iterator[Figure]:
    """The claim with a million finished, planned and foreign rows against an empty ledger; in turns."""
    rows = ROWS // 10 if quick else ROWS
    with ledgers.place(folder, "empty") as one, ledgers.place(folder, "full") as other:
        ledgers.made(one).close()
        ledgers.made(other).close()
        _fill(other, rows)
        empty, full = ledgers.opened(one), ledgers.opened(other)
        cycles, claims = [], []
        for number in range(10 if quick else 30):
            base, crowd = _round(empty, number), _round(full, number)
            cycles.append(crowd[0] / base[0])
            claims.append(crowd[1] / base[1])
        scans = _scans(full)
        for ledger in (empty, full):
            ledger.close()
    yield figure(f"claim beside {rows:,} rows / an empty ledger", cycles, most=1.3, note=f"{BATCH} jobs, with its commit")
    yield figure("the same without the commit", claims, most=1.3, note="statements alone")
    yield figure("steps of the claim's plans that scan", [float(scans)], most=0)


def _fill(where: Place, rows: int) -> None:
    """Put rows in place of as many moves: without the triggers, which are made anew afterwards."""
    connection = connect(where.state / LEDGER)
    connection.execute("BEGIN IMMEDIATE")
    for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'trigger'").fetchall():
        connection.execute(f'DROP TRIGGER "{name}"')
    connection.execute(FILL, {"rows": rows})
    connection.execute("UPDATE ledger SET triggers_sha256 = ''")
    connection.execute("COMMIT")
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    migrations.migrate(where, SYSTEM, triggers.statements(), release="bench")


def _round(ledger: Ledger, number: int) -> tuple[float, float]:
    """The median seconds of a claim of a batch, with and without its commit; what was claimed is finished."""
    wholes, alone = [], []
    for each in range(5):
        ledgers.fill(ledger, "bench.noop", BATCH, f"new{number}.{each}.")
        began = time.perf_counter()
        with ledger.write() as tx:
            entered = time.perf_counter()
            queue.ripen(tx)
            claimed = queue.claim(tx, READS, HOLDER, BATCH)
            alone.append(time.perf_counter() - entered)
        wholes.append(time.perf_counter() - began)
        _finish(ledger, claimed)
    return median(wholes), median(alone)


def _finish(ledger: Ledger, claimed: list[Claimed]) -> None:
    with ledger.write() as tx:
        for each in claimed:
            handin.hand_in(tx, Returned(claimed=each, outcome=Done(1)))


def _scans(ledger: Ledger) -> int:
    """The steps of the plans of all that a claim runs that read a whole table or index."""
    steps = []
    for sql in CLAIM:
        steps += [str(row[3]) for row in ledger.read("EXPLAIN QUERY PLAN " + sql, _anything())]
    return sum(step.startswith("SCAN") and "VIRTUAL TABLE" not in step and "CONSTANT" not in step for step in steps)


def _anything() -> dict[str, object]:
    return {"reads": READS, "holder": HOLDER, "now": 0, "most": 1, "actor": "worker"}
