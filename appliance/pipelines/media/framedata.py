"""The frame data: everything counted, as binary columns, one row group a part.

A block is a header of 48 bytes (magic, part, frames, errors, events, length of the meta text, length of the body), then the body:
the meta text (JSON), the columns of ``records.FRAME`` in the order of ``COLUMNS``, the errors, the events.  A column is one byte
that says how it is kept and its values, little-endian: ``CONSTANT`` is one value for all frames, ``PLAIN`` one a frame.  All
numbers are as in ``records``; docs/media.md has the layout for readers in other languages.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Final

import numpy as np
from numpy.typing import NDArray

from appliance.pipelines.media import canonical, records
from appliance.pipelines.media.records import Errors, Events, Frames

MAGIC: Final = b"AFRAMES1"
HEADER: Final = struct.Struct("<8s6IQ8x")
CONSTANT: Final = 0
PLAIN: Final = 1
SCALARS: Final = ("ordinal", "width", "height", "pixels", "depth", "picture", "flags", "black", "sad")
ARRAYS: Final = ("min", "max", "sum", "low", "high", "crc")
COLUMNS: Final = (*((name, None) for name in SCALARS), *((name, place) for name in ARRAYS for place in range(records.PLANES)))

Column = NDArray[Any]


@dataclass(frozen=True, slots=True)
class Block:
    """One part as it was folded.  ``meta`` is JSON."""

    part: int
    meta: dict[str, Any]
    frames: Frames
    errors: Errors
    events: Events


def encode(block: Block) -> bytes:
    """The bytes of a block."""
    meta = canonical.encode(block.meta)
    columns = [packed(column(block.frames, name, place)) for name, place in COLUMNS]
    body = b"".join((meta, *columns, block.errors.tobytes(), block.events.tobytes()))
    counts = (block.part, len(block.frames), len(block.errors), len(block.events), len(meta), len(COLUMNS))
    return HEADER.pack(MAGIC, *counts, len(body)) + body


def column(frames: Frames, name: str, place: int | None) -> Column:
    """One column of the frames."""
    values: Column = frames[name] if place is None else frames[name][:, place]
    return values


def packed(values: Column) -> bytes:
    """A column as bytes."""
    if len(values) and (values == values[0]).all():
        return bytes((CONSTANT,)) + values[:1].tobytes()
    return bytes((PLAIN,)) + values.tobytes()


def blocks(path: Path, *, with_frames: bool = True) -> Iterator[Block]:
    """The blocks of a frame data file in order, one at a time in memory; without frames, only what the report needs.

    Raises ``ValueError`` for a file of another kind.
    """
    with path.open("rb") as file:
        while head := file.read(HEADER.size):
            magic, part, frames, errors, events, meta, _, body = HEADER.unpack(head)
            if magic != MAGIC:
                message = f"{path} holds something else than frame data"
                raise ValueError(message)
            end = file.tell() + body
            text = json.loads(file.read(meta))
            table = unpacked(file, frames) if with_frames else np.empty(0, records.FRAME)
            file.seek(end - errors * records.ERROR.itemsize - events * records.EVENT.itemsize)
            yield Block(part, text, table, taken(file, records.ERROR, errors), taken(file, records.EVENT, events))


def unpacked(file: BinaryIO, count: int) -> Frames:
    """The frames of the block whose columns come next in the file."""
    frames = np.zeros(count, records.FRAME)
    for name, place in COLUMNS:
        target = column(frames, name, place)
        kept = file.read(1)[0]
        target[:] = taken(file, target.dtype, 1 if kept == CONSTANT else count)
    return frames


def taken(file: BinaryIO, dtype: np.dtype[Any], count: int) -> Column:
    """``count`` values from the file."""
    return np.frombuffer(file.read(count * dtype.itemsize), dtype)
