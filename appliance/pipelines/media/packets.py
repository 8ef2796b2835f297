"""The index: one row a packet of the film's video, in the order of demuxing, and a header that says all else.

A row is 32 bytes; its number is the packet's ordinal.  ``pts``, ``dts`` (in units of the stream's time base) and ``pos`` (byte
offset in the file) are ``NONE`` where the container says nothing.  The file is ``AFINDEX1``, the length of the header as eight
bytes, the header (JSON, padded with spaces to whole rows), the rows; so a worker maps it and touches only the rows it needs.
"""

from __future__ import annotations

import json
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

ROW: Final = np.dtype([("pts", "<i8"), ("dts", "<i8"), ("pos", "<i8"), ("size", "<u4"), ("flags", "<u4")])
PACK: Final = struct.Struct("<3q2I")
PREFIX: Final = struct.Struct("<8sQ")
MAGIC: Final = b"AFINDEX1"
NONE: Final = -(2**63)
KEY: Final = 1
DISCARD: Final = 2  # decoded for the sake of others, not shown (edit lists)
CORRUPT: Final = 4  # the demuxer says that bytes are missing

Rows = NDArray[np.void]


@dataclass(frozen=True, slots=True)
class Index:
    """A film's index as its parts see it.  ``header`` is JSON; ``rows`` has the dtype ``ROW`` and may be a mapped file."""

    header: dict[str, Any]
    rows: Rows

    @property
    def starts(self) -> list[int]:
        """The ordinal of the first packet of every part."""
        starts: list[int] = self.header["plan"]["starts"]
        return starts

    def limits(self, part: int) -> tuple[int, int]:
        """The ordinals of a part's first packet and of the packet after its last."""
        starts = self.starts
        return starts[part], starts[part + 1] if part + 1 < len(starts) else len(self.rows)


def row(pts: int | None, dts: int | None, pos: int | None, size: int, flags: int) -> bytes:
    """One row as bytes."""
    return PACK.pack(NONE if pts is None else pts, NONE if dts is None else dts, NONE if pos is None else pos, size, flags)


def rows_of(data: bytes | bytearray) -> Rows:
    """The rows in a buffer, without a copy."""
    return np.frombuffer(data, ROW)


def pack(header: dict[str, Any], rows: bytes | bytearray) -> bytes:
    """An index file: header and rows."""
    text = json.dumps(header, sort_keys=True, separators=(",", ":")).encode()
    text += b" " * (-(PREFIX.size + len(text)) % ROW.itemsize)
    return b"".join((PREFIX.pack(MAGIC, len(text)), text, rows))


def read(path: Path) -> Index:
    """Open an index file; its rows are mapped, not read.  Raises ``ValueError`` if it is none."""
    with path.open("rb") as file:
        magic, length = PREFIX.unpack(file.read(PREFIX.size))
        if magic != MAGIC:
            message = f"{path} is no index"
            raise ValueError(message)
        header = json.loads(file.read(length))
    return Index(header, np.memmap(path, ROW, mode="r", offset=PREFIX.size + length))


def key_before(rows: Rows, ordinal: int, keys: int) -> int:
    """The ordinal of the ``keys``-th key packet before ``ordinal``, or 0; looks backward in pieces, never at all rows."""
    if keys == 0:
        return ordinal
    end = ordinal
    while end > 0:
        begin = max(0, end - 4096)
        found = np.flatnonzero(rows["flags"][begin:end] & KEY)
        if len(found) >= keys:
            return begin + int(found[len(found) - keys])
        keys -= len(found)
        end = begin
    return 0
