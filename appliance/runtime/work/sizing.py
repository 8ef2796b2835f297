"""How many jobs a worker claims at a time.  Pure.

One commit a batch: as many short jobs as make ``limits.BATCH_WORK_MS`` of work, or some times the cost of a commit where the disk
is slow.  A kind that was not measured yet, or takes long, is claimed one at a time, so that no job waits behind another in
somebody's hands while a worker is free.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from appliance import limits

WEIGHT: Final = 0.2  # of the newest measurement


def smoothed(before: float | None, now: float) -> float:
    """A running mean that follows."""
    return now if before is None else before + WEIGHT * (now - before)


def short_kinds(means_ms: Mapping[str, float]) -> frozenset[str]:
    """The kinds that were measured to be short."""
    return frozenset(kind for kind, mean in means_ms.items() if mean <= limits.SHORT_JOB_MS)


def batch_most(mean_ms: float, commit_ms: float) -> int:
    """How many jobs of this mean length to claim at once."""
    work_ms = max(limits.BATCH_WORK_MS, limits.BATCH_COMMITS * commit_ms)
    return max(1, min(limits.BATCH_MOST, int(work_ms / max(mean_ms, 0.001))))
