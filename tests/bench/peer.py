"""Huey with its SQLite storage as it comes: WAL, SQLite's own default of a sync at each commit, results stored.

Imported by Huey's consumer, which runs in processes of its own; the file is named by ``BENCH_HUEY``.
"""

from __future__ import annotations

import os
import time
from typing import Any

from huey import SqliteHuey

huey = SqliteHuey(filename=os.environ["BENCH_HUEY"])
ENQUEUE = "INSERT INTO task (queue, data, priority) VALUES (?, ?, 0)"


@huey.task()  # type: ignore[untyped-decorator]
def noop(_payload: Any) -> int:  # noqa: ANN401 - whatever it is given
    """Do nothing but say when."""
    return time.clock_gettime_ns(time.CLOCK_BOOTTIME)


def fill(jobs: int, payload: Any) -> None:  # noqa: ANN401 - JSON
    """Put jobs into the queue, in one commit; its own way takes a commit for each."""
    rows = [(huey.storage.name, huey.serialize_task(noop.s(payload))) for _ in range(jobs)]
    with huey.storage.db(commit=True) as cursor:
        cursor.executemany(ENQUEUE, rows)
