"""What the time stamps of the packets say: missing, doubled, backward, gapped and wrapped ones, as ranges with totals.

Pure functions of the index.  Steps are looked at in the order of decoding for ``dts``, and in the order of showing for ``pts``,
within stretches that a step backward does not interrupt (so a film glued from two has one step backward, not a thousand
doubled stamps).  A wrap of the 33-bit clock (ISO/IEC 13818-1, 2.4.3.7) is legal, and FFmpeg has already counted on over it.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from appliance.pipelines.media import bounds
from appliance.pipelines.media.packets import NONE, Rows
from appliance.pipelines.media.profiles import Profile

WRAP_TICKS: Final = 2**33
CLOCKED: Final = frozenset({"mpeg", "mpegts"})

Ordinals = NDArray[np.int64]
Ticks = NDArray[np.int64]


def findings(rows: Rows, container: str, time_base: Fraction | None, profile: Profile) -> dict[str, Any]:
    """All findings by name, each ``{"packets", "ranges", "listed": [[first ordinal, packets], ...]}``."""
    pts = np.ascontiguousarray(rows["pts"])
    dts = np.ascontiguousarray(rows["dts"])
    timed = np.flatnonzero(dts != NONE)
    stamps = dts[timed]
    stretches = np.cumsum(np.diff(stamps, prepend=stamps[:1]) < 0, dtype=np.int64)
    doubled, gapped = shown_order(pts, timed, stretches, longest_step(time_base, profile), profile.gap_steps)
    return {
        "without_pts": int(np.count_nonzero(pts == NONE)),
        "missing": ranges(np.flatnonzero((pts == NONE) & (dts == NONE))),
        "backward": ranges(timed[1:][np.diff(stamps) < 0]),
        "doubled": ranges(np.union1d(doubled, timed[1:][np.diff(stamps) == 0])),
        "gapped": ranges(gapped),
        "wrapped": ranges(wraps(timed, stamps) if container in CLOCKED and time_base == Fraction(1, 90_000) else timed[:0]),
    }


def shown_order(pts: Ticks, timed: Ordinals, stretches: Ticks, step_max: int, steps_max: int) -> tuple[Ordinals, Ordinals]:
    """The packets whose pts repeats that of the picture before, and those after a gap, in the order of showing."""
    shown = pts[timed] != NONE
    ordinals, stretches = timed[shown], stretches[shown]
    order = np.lexsort((pts[ordinals], stretches))
    ordinals, stretches = ordinals[order], stretches[order]
    steps = np.diff(pts[ordinals])
    within = np.diff(stretches) == 0
    usual = middle(steps[within & (steps > 0)])
    after = ordinals[1:]
    return np.sort(after[within & (steps == 0)]), np.sort(after[within & (steps > max(step_max, steps_max * usual))])


def middle(steps: Ticks) -> int:
    """The lower median, an integer; 0 of nothing."""
    return int(np.partition(steps, (len(steps) - 1) // 2)[(len(steps) - 1) // 2]) if len(steps) else 0


def longest_step(time_base: Fraction | None, profile: Profile) -> int:
    """The gap of the profile in ticks."""
    return int(Fraction(profile.gap_ms, 1000) / time_base) if time_base else 0


def wraps(timed: Ordinals, stamps: Ticks) -> Ordinals:
    """The first packets on the other side of a wrap of the 33-bit clock."""
    return timed[1:][np.diff(stamps // WRAP_TICKS) > 0]


def ranges(ordinals: Ordinals) -> dict[str, Any]:
    """Ascending ordinals as ranges, a bounded number of them listed, all of them counted."""
    if len(ordinals) == 0:
        return {"packets": 0, "ranges": 0, "listed": []}
    firsts = np.flatnonzero(np.diff(ordinals, prepend=ordinals[0] - 2) != 1)
    lengths = np.diff(firsts, append=len(ordinals))
    most = bounds.RANGES_LISTED_MAX
    listed = [[int(ordinals[first]), int(length)] for first, length in zip(firsts[:most], lengths[:most], strict=True)]
    return {"packets": len(ordinals), "ranges": len(firsts), "listed": listed}
