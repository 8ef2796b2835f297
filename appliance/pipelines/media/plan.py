"""Where a film is cut: at key packets, a pure function of its packets and the profile, never of the number of workers."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from appliance.pipelines.media import bounds, canonical
from appliance.pipelines.media.packets import DISCARD, KEY, Rows
from appliance.pipelines.media.profiles import Profile


def plan(rows: Rows, profile: Profile, basis: dict[str, Any]) -> dict[str, Any]:
    """The plan as it stands in the report; its hash also covers ``basis`` (film digest and engine)."""
    keys = cuttable(rows)
    starts = [0, *cuts(keys, len(rows), profile)]
    lengths = [end - begin for begin, end in pairwise([*starts, len(rows)])]
    return {
        "starts": starts,
        "parts": len(starts),
        "packets": len(rows),
        "keys": int(np.count_nonzero(rows["flags"] & KEY)),
        "overlong": sum(length > profile.part_frames_max for length in lengths),
        "hash": canonical.digest({"basis": basis, "profile": profile.as_json(), "starts": starts, "packets": len(rows)}),
    }


def cuttable(rows: Rows) -> NDArray[np.int64]:
    """The ordinals at which a part may start: key packets that are shown."""
    return np.flatnonzero(rows["flags"] & (KEY | DISCARD) == KEY)


def aim(packets: int, profile: Profile) -> int:
    """The length that a part should at least have, in packets."""
    return min(max(packets // bounds.PARTS_AIM, profile.part_frames_min), profile.part_frames_max)


def cuts(keys: NDArray[np.int64], packets: int, profile: Profile) -> list[int]:
    """The ordinals of the cuts: 300 to 1000 packets apart where the keys allow it; the last part has at least half of that."""
    wanted = aim(packets, profile)
    found: list[int] = []
    last = 0
    while (cut := next_cut(keys, last, wanted, profile)) is not None and packets - cut >= profile.part_frames_min // 2:
        found.append(cut)
        last = cut
    return found


def next_cut(keys: NDArray[np.int64], last: int, wanted: int, profile: Profile) -> int | None:
    """The first key from ``wanted`` to the maximum after ``last``; else the last one from the minimum on; else the next at all."""
    at = int(np.searchsorted(keys, last + wanted))
    if at < len(keys) and keys[at] <= last + profile.part_frames_max:
        return int(keys[at])
    if at > 0 and keys[at - 1] >= last + profile.part_frames_min:
        return int(keys[at - 1])
    return int(keys[at]) if at < len(keys) else None
