"""What became of every packet: it was shown, or there is a reason why not.

The reasons, the stronger first: the decoder refused it (*error*); it holds no byte (*empty*); the container says that it is not
shown (*discarded*); its part is *dead*; it stands before or around the first picture that could be decoded (*leading*);
the decoder took it and showed no picture for it (*hidden*: second fields, references that are never shown, damage).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from appliance.pipelines.media import bounds
from appliance.pipelines.media.packets import DISCARD, Rows
from appliance.pipelines.media.records import Errors, Frames

REASONS: Final = ("error", "empty", "discarded", "dead", "leading", "hidden")
SHOWN: Final = -1

Reasons = NDArray[np.int8]


@dataclass(frozen=True, slots=True, kw_only=True)
class Stock:
    """The packets from ``begin`` to ``end``; those ``ahead`` were shown by the part before, which may be dead, as may this one."""

    begin: int
    end: int
    rows: Rows
    ahead: list[int]
    dead: bool
    dead_before: bool


def reasons(stock: Stock, frames: Frames, errors: Errors) -> Reasons:
    """For each packet of the part ``SHOWN`` or the number of its reason."""
    ordinals = np.arange(stock.begin, stock.end)
    shown = within(stock, np.concatenate([frames["ordinal"], np.array(stock.ahead, np.int32)]))
    lead = ordinals < stock.begin + bounds.LEAD_FRAMES_MAX
    truths = (
        within(stock, errors["ordinal"]),
        stock.rows["size"][stock.begin : stock.end] == 0,
        stock.rows["flags"][stock.begin : stock.end] & DISCARD != 0,
        np.full(len(ordinals), stock.dead) | (lead & stock.dead_before),
        ordinals < leading_end(stock, frames),
    )
    why = np.select(truths, range(len(truths)), default=len(truths)).astype(np.int8)
    return np.where(shown, np.int8(SHOWN), why)


def within(stock: Stock, ordinals: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Which of the part's packets are among the ordinals."""
    truth = np.zeros(stock.end - stock.begin, bool)
    truth[ordinals[(ordinals >= stock.begin) & (ordinals < stock.end)] - stock.begin] = True
    return truth


def leading_end(stock: Stock, frames: Frames) -> int:
    """The first ordinal that cannot belong to undecodable leading pictures: only the film's first part has those."""
    if stock.begin > 0 or len(frames) == 0:
        return 0
    first = int(frames["ordinal"][0])
    after = frames["ordinal"][frames["ordinal"] > first]
    return int(after.min()) if len(after) else first


def ahead(stock: Stock, frames: Frames) -> list[int]:
    """The ordinals behind the part's end that it has shown: pictures that come before the next key."""
    return sorted({int(ordinal) for ordinal in frames["ordinal"][frames["ordinal"] >= stock.end]})
