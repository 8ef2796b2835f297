"""What the fold carries from part to part: a few kilobytes of JSON, however long the film is.

Events and seams are not in it: they go into the frame data with the part that closes them, and only their totals stay here.
Bounded: one open run a sign, one overlap, at most ``LEAD_FRAMES_MAX`` packets ahead, ``ERRORS_COUNTED_MAX`` codes and shapes.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from appliance.pipelines.media import bounds, records
from appliance.pipelines.media.records import Frames

OTHERS = "others"


@dataclass(slots=True, kw_only=True)
class Carry:
    """The fold's state: ``last`` is the last frame shown, ``overlap`` what the last part showed of the next (both in hex)."""

    frames: int = 0
    last: str = ""
    overlap: str = ""
    ahead: list[int] = field(default_factory=list)
    dead: bool = False
    open: dict[str, list[int]] = field(default_factory=dict)
    totals: dict[str, list[int]] = field(default_factory=dict)
    seams: dict[str, int] = field(default_factory=dict)
    errors: dict[str, int] = field(default_factory=dict)
    shapes: dict[str, int] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)
    least: list[int] = field(default_factory=lambda: [2**16] * records.PLANES)
    most: list[int] = field(default_factory=lambda: [0] * records.PLANES)
    sums: list[int] = field(default_factory=lambda: [0] * records.PLANES)

    def as_json(self) -> dict[str, Any]:
        """The state as JSON."""
        return asdict(self)


def of_hex(text: str) -> Frames:
    """Frames from hex."""
    return np.frombuffer(bytes.fromhex(text), records.FRAME)


def add(counts: dict[str, int], name: str, count: int) -> None:
    """Count under a name; under ``others`` once there are too many names."""
    key = name if name in counts or len(counts) < bounds.ERRORS_COUNTED_MAX else OTHERS
    counts[key] = counts.get(key, 0) + count


def tally(carry: Carry, frames: Frames) -> None:
    """Add a part's frames to the totals of the film."""
    if len(frames) == 0:
        return
    carry.frames += len(frames)
    carry.last = frames[-1:].tobytes().hex()
    for name, bit in (("keys", records.KEY), ("corrupt", records.CORRUPT), ("interlaced", records.INTERLACED)):
        carry.counts[name] = carry.counts.get(name, 0) + int(np.count_nonzero(frames["flags"] & bit))
    carry.counts["unaddressed"] = carry.counts.get("unaddressed", 0) + int(np.count_nonzero(frames["ordinal"] < 0))
    for shape, count in shapes(frames):
        add(carry.shapes, shape, count)
    measured = frames[(frames["flags"] & records.OPAQUE) == 0]
    for place in range(records.PLANES if len(measured) else 0):
        carry.least[place] = min(carry.least[place], int(measured["min"][:, place].min()))
        carry.most[place] = max(carry.most[place], int(measured["max"][:, place].max()))
        carry.sums[place] += int(measured["sum"][:, place].sum(dtype=np.uint64))


def shapes(frames: Frames) -> list[tuple[str, int]]:
    """The different shapes of pictures and how many frames have each, in a fixed order."""
    kinds, counts = np.unique(frames[["width", "height", "pixels"]], return_counts=True)
    return [
        (f"{kind['width']}x{kind['height']} {kind['pixels'].decode('ascii')}", int(count))
        for kind, count in zip(kinds, counts, strict=True)
    ]
