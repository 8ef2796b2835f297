"""What is said of a frame by its counts: black, a repeat, standing still, out of range, corrupt, of another shape.

Each rule is a pure function of the counts, their predecessor's and the profile, over a whole part at once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from appliance.pipelines.media import records
from appliance.pipelines.media.profiles import Profile
from appliance.pipelines.media.records import Frames, flagged, whole

Truth = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Sight:
    """A part's frames, the one before each of them (empty where there is none), and what is asked."""

    frames: Frames
    before: Frames
    profile: Profile


def area(frames: Frames) -> NDArray[np.int64]:
    """The pixels of each picture."""
    return whole(frames, "width") * whole(frames, "height")


def counted(frames: Frames) -> Truth:
    """Whether samples were counted at all."""
    truth: Truth = ~flagged(frames, records.OPAQUE) & (whole(frames, "crc") != 0).any(axis=1)
    return truth


def black(seen: Sight) -> Truth:
    """Almost all luma at or below the black level: the rule of ffmpeg's blackdetect."""
    enough = whole(seen.frames, "black") * 1000 >= seen.profile.black_pixels_permille * area(seen.frames)
    truth: Truth = enough & counted(seen.frames) & ~flagged(seen.frames, records.NOT_YUV)
    return truth


def repeat(seen: Sight) -> Truth:
    """All planes equal to those of the frame before."""
    now, then = whole(seen.frames, "crc"), whole(seen.before, "crc")
    truth: Truth = alike(seen) & (now == then).all(axis=1) & (now != 0).any(axis=1)
    return truth


def freeze(seen: Sight) -> Truth:
    """A mean difference to the frame before of at most the profile's level; exact repeats among them."""
    sad = whole(seen.frames, "sad")
    scale = np.left_shift(1, np.maximum(whole(seen.frames, "depth"), 8) - 8)
    truth: Truth = (sad >= 0) & (sad * 1000 <= seen.profile.freeze_level_milli * area(seen.frames) * scale) & alike(seen)
    return truth


def out_of_range(seen: Sight) -> Truth:
    """More samples outside the studio range, of all planes together, than the profile's share of the pixels."""
    outside = (whole(seen.frames, "low") + whole(seen.frames, "high")).sum(axis=1)
    truth: Truth = outside * 1000 > seen.profile.range_pixels_permille * area(seen.frames)
    return truth


def corrupt(seen: Sight) -> Truth:
    """The decoder says that it had to guess parts of the picture."""
    return flagged(seen.frames, records.CORRUPT)


def changed(seen: Sight) -> Truth:
    """A picture of another size or pixel format than the one before."""
    truth: Truth = ~alike(seen) & (area(seen.before) > 0)
    return truth


def alike(seen: Sight) -> Truth:
    """The same size and pixel format as the frame before."""
    truth: Truth = np.ones(len(seen.frames), bool)
    for name in ("width", "height", "pixels"):
        truth &= seen.frames[name] == seen.before[name]
    return truth


Rule = Callable[[Sight], Truth]
RULES: Final[Mapping[str, Rule]] = {
    "black": black,
    "repeat": repeat,
    "freeze": freeze,
    "range": out_of_range,
    "corrupt": corrupt,
    "change": changed,
}


def shortest(name: str, profile: Profile) -> int:
    """The number of frames from which a run of this sign is an event."""
    return {
        "black": profile.black_frames_min,
        "repeat": profile.repeat_frames_min,
        "freeze": profile.freeze_frames_min,
        "range": profile.range_frames_min,
    }.get(name, 1)
