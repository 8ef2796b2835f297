"""Whether two parts fit: the frames on which one ran out must be the frames with which the next begins.

A seam is *proven* when they are equal in every count and CRC, *unproven* when they differ even after the longest run-in
(damaged films, or streams without true key frames), and *unseen* when one side showed nothing to compare or is dead.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

from appliance.pipelines.media import bounds, records
from appliance.pipelines.media.records import Frames

PROVEN = "proven"
UNPROVEN = "unproven"
UNSEEN = "unseen"


@dataclass(frozen=True, slots=True, kw_only=True)
class Seam:
    """What was found where a part begins: ``frames`` were equal; ``run_in`` keys and the way to land were needed."""

    at: int
    state: str
    frames: int
    run_in: int
    landing: str
    proof: str

    def as_json(self) -> dict[str, str | int]:
        """The seam as it stands in the report."""
        return {
            "at": self.at,
            "state": self.state,
            "frames": self.frames,
            "run_in": self.run_in,
            "landing": self.landing,
            "proof": self.proof,
        }


def compare(overlap: Frames, frames: Frames, at: int, how: dict[str, Any]) -> Seam:
    """Hold the overlap of the part before against the first frames of the part that begins at packet ``at``."""
    seen = min(len(overlap), len(frames))
    equal = records.same_pictures(overlap, frames)
    state = state_of(seen, equal, comparable=len(overlap) > 0 and (seen > 0 or how["start"] > 0))
    return Seam(at=at, state=state, frames=equal, run_in=how["run_in"], landing=how["landing"], proof=proof(frames[:equal]))


def state_of(seen: int, equal: int, *, comparable: bool) -> str:
    """The state of a seam at which ``equal`` of ``seen`` frames are the same."""
    if not comparable:
        return UNSEEN
    return PROVEN if 0 < equal == seen else UNPROVEN


def proof(frames: Frames) -> str:
    """A digest of the frames that both sides have seen alike; empty if there are none."""
    alike = frames.copy()
    alike["sad"] = records.NO_SAD
    return hashlib.sha256(alike.tobytes()).hexdigest()[:32] if len(alike) else ""


def wanting(seam: Seam, frames: Frames) -> bool:
    """Whether a longer run-in could help: the parts do not fit, or nothing is known and the part does not begin with its key."""
    headless = len(frames) == 0 or int(frames["ordinal"][0]) != seam.at
    return seam.state == UNPROVEN or (seam.state == UNSEEN and headless)


def longer(how: dict[str, Any]) -> int | None:
    """The run-in to try next, in key packets; None if the part already began at the film's start or has tried the longest."""
    run_in = 2 * int(how["run_in"]) + 1
    return run_in if how["start"] > 0 and run_in <= bounds.RUN_IN_KEYS_MAX else None
