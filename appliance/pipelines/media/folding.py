"""The fold: parts come strictly in order, and leave as blocks of frame data and a state of a few kilobytes.

The invariant: after part n, state and output are what they would be had one process measured the parts 0..n in a row.
A part that does not fit its predecessor is asked for again with a longer run-in, four times at most; after that it is taken as
it is, and its seam stands in the report as unproven.  A dead part is a hole of known size, never a dead film.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from appliance import Context, Folded, Part, Redo
from appliance.pipelines.media import carry as carrying
from appliance.pipelines.media import coverage, framedata, packets, records, runs, seams, signs
from appliance.pipelines.media.carry import Carry
from appliance.pipelines.media.coverage import REASONS, Stock
from appliance.pipelines.media.packets import Index
from appliance.pipelines.media.profiles import Profile
from appliance.pipelines.media.records import Errors, Events, Frames

KINDS = (*signs.RULES, *REASONS)


def fold(context: Context, state: dict[str, Any], part: Part) -> Folded | Redo:
    """Fold one part into the state, or ask for it again."""
    index = packets.read(context.files["index"])
    carry = Carry(**state)
    if part.error is not None:
        return folded(index, carry, Measured.dead(part.ordinal, index))
    found = Measured.read(part, index)
    if part.ordinal > 0:
        found.seam = seams.compare(carrying.of_hex(carry.overlap), found.frames, found.begin, found.how)
        further = seams.longer(found.how)
        if further is not None and seams.wanting(found.seam, found.frames):
            return Redo({"run_in": further})
    return folded(index, carry, found)


class Measured:
    """A part's tables as they come into the fold; the first frame's ``sad`` is still open."""

    def __init__(self, number: int, index: Index, tables: tuple[Frames, Frames, Errors], how: dict[str, Any]) -> None:
        self.number = number
        self.begin, self.end = index.limits(number)
        self.last = self.end == len(index.rows)
        self.frames, self.overlap, self.errors = tables
        self.how = how
        self.is_dead = not how
        self.seam: seams.Seam | None = None

    @classmethod
    def read(cls, part: Part, index: Index) -> Measured:
        """Read a measured part from its files."""
        if not isinstance(part.result, dict):
            message = f"part {part.ordinal} has no result"
            raise TypeError(message)
        frames, overlap = (np.fromfile(part.files[name], records.FRAME) for name in ("records", "overlap"))
        return cls(part.ordinal, index, (frames, overlap, np.fromfile(part.files["errors"], records.ERROR)), dict(part.result))

    @classmethod
    def dead(cls, number: int, index: Index) -> Measured:
        """A part of which nothing is known."""
        nothing = np.empty(0, records.FRAME)
        return cls(number, index, (nothing, nothing, np.empty(0, records.ERROR)), {})


def folded(index: Index, carry: Carry, found: Measured) -> Folded:
    """Take the part: settle its seam, find what runs through it, account for its packets."""
    profile = Profile(**index.header["profile"])
    settle(carry, found)
    events = np.concatenate([*frame_events(carry, found, profile), *packet_events(index, carry, found)])
    carrying.tally(carry, found.frames)
    for code, count in zip(*np.unique(found.errors["code"], return_counts=True), strict=True):
        carrying.add(carry.errors, str(code), int(count))
    carry.overlap = found.overlap.tobytes().hex()
    carry.dead = found.is_dead
    meta = {"dead": found.is_dead, "seam": found.seam.as_json() if found.seam else None}
    return Folded(carry.as_json(), framedata.encode(framedata.Block(found.number, meta, found.frames, found.errors, events)))


def settle(carry: Carry, found: Measured) -> None:
    """Give the first frame its difference to the frame before, which only the part before has seen; count the seam."""
    if found.number == 0:
        return
    proven = found.seam is not None and found.seam.state == seams.PROVEN
    if len(found.frames):
        found.frames["sad"][0] = carrying.of_hex(carry.overlap)["sad"][0] if proven else records.NO_SAD
    state = found.seam.state if found.seam is not None else seams.UNSEEN
    carry.seams[state] = carry.seams.get(state, 0) + 1


def frame_events(carry: Carry, found: Measured, profile: Profile) -> Iterator[Events]:
    """The events of the frames that end in this part."""
    stretch = runs.Stretch(carry.frames, found.frames["ordinal"], found.last)
    seen = sight(carry, found, profile)
    for kind, (name, rule) in enumerate(signs.RULES.items()):
        yield closed(carry, kind, rule(seen), stretch, least=signs.shortest(name, profile))


def sight(carry: Carry, found: Measured, profile: Profile) -> signs.Sight:
    """The frames and for each the one before it: an empty one where there is none, or where a dead part lies between."""
    known = bool(carry.last) and not carry.dead
    last = carrying.of_hex(carry.last) if known else np.zeros(1, records.FRAME)
    chain = np.concatenate([last, found.frames])
    found.frames = chain[1:]  # two views of one array: a film of one part can have two million frames
    return signs.Sight(chain[1:], chain[:-1], profile)


def packet_events(index: Index, carry: Carry, found: Measured) -> Iterator[Events]:
    """The ranges of packets that were not shown, by reason, that end in this part."""
    stock = Stock(begin=found.begin, end=found.end, rows=index.rows, ahead=carry.ahead, dead=found.is_dead, dead_before=carry.dead)
    why = coverage.reasons(stock, found.frames, found.errors)
    carry.counts["shown"] = carry.counts.get("shown", 0) + int(np.count_nonzero(why == coverage.SHOWN))
    carry.ahead = coverage.ahead(stock, found.frames)
    stretch = runs.Stretch(found.begin, np.arange(found.begin, found.end, dtype=np.int32), found.last)
    for number in range(len(REASONS)):
        yield closed(carry, len(signs.RULES) + number, why == number, stretch, least=1)


def closed(carry: Carry, kind: int, truth: NDArray[np.bool_], stretch: runs.Stretch, *, least: int) -> Events:
    """The runs of one kind that end here; the open one and the totals go into the state."""
    name = KINDS[kind]
    before = carry.open.pop(name, None)
    events, still = runs.advance(kind, truth, stretch, (before[0], before[1], before[2], before[3]) if before else None, least)
    if still is not None:
        carry.open[name] = list(still)
    count, length = carry.totals.get(name, [0, 0])
    carry.totals[name] = [count + len(events), length + int(events["count"].sum(dtype=np.int64))]
    return events
