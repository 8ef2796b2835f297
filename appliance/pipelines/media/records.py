"""The tables of a part, little-endian and without padding: frames, errors, events.

A frame's arrays have four places: one a plane, zero where there is none.  ``ordinal`` is that of its packet (-1 if the decoder
does not say); ``sad`` the sum of absolute differences of the first plane to the frame shown before (-1: there is none, or it has
another shape); ``low`` and ``high`` count samples outside 16..235 (chroma 240), scaled by depth; ``crc`` is CRC-32 of the rows.
"""

from __future__ import annotations

import struct
from typing import Final

import numpy as np
from numpy.typing import NDArray

PLANES: Final = 4
FRAME: Final = np.dtype(
    [
        ("ordinal", "<i4"),
        ("width", "<u2"),
        ("height", "<u2"),
        ("pixels", "S16"),
        ("depth", "u1"),
        ("picture", "u1"),
        ("flags", "<u2"),
        ("black", "<u4"),
        ("sad", "<i8"),
        ("min", "<u2", (PLANES,)),
        ("max", "<u2", (PLANES,)),
        ("sum", "<u8", (PLANES,)),
        ("low", "<u4", (PLANES,)),
        ("high", "<u4", (PLANES,)),
        ("crc", "<u4", (PLANES,)),
    ]
)
FRAME_PACK: Final = struct.Struct("<i2H16s2BHIq4H4H4Q4I4I4I")
ERROR: Final = np.dtype([("ordinal", "<i4"), ("code", "<i4")])
ERROR_PACK: Final = struct.Struct("<2i")
EVENT: Final = np.dtype([("kind", "<u4"), ("first", "<u4"), ("count", "<u4"), ("from_packet", "<i4"), ("to_packet", "<i4")])

# flags of a frame
KEY: Final = 1
CORRUPT: Final = 2
INTERLACED: Final = 4
FULL_RANGE: Final = 8
NOT_YUV: Final = 16  # no black, no range: red, green and blue, or grey alone
OPAQUE: Final = 32  # only the CRC: samples that are packed, palettes, floating point, big-endian

NO_SAD: Final = -1
NO_ORDINAL: Final = -1

Frames = NDArray[np.void]
Errors = NDArray[np.void]
Events = NDArray[np.void]


def whole(frames: Frames, name: str) -> NDArray[np.int64]:
    """A column as wide integers, in which products cannot overflow."""
    wide: NDArray[np.int64] = frames[name].astype(np.int64)
    return wide


def flagged(frames: Frames, flags: int) -> NDArray[np.bool_]:
    """Which frames have any of the flags."""
    truth: NDArray[np.bool_] = whole(frames, "flags") & flags != 0
    return truth


def same_pictures(first: Frames, second: Frames) -> int:
    """How many records from the start are the same in all but ``sad``, whose predecessor may be out of sight."""
    count = min(len(first), len(second))
    equal = np.ones(count, bool)
    for name in FRAME.names or ():
        if name != "sad":
            like = first[name][:count] == second[name][:count]
            equal &= like.all(axis=1) if like.ndim > 1 else like
    return count if equal.all() else int(np.argmin(equal))
