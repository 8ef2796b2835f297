"""Frames: what passes between a worker and a hand.  A JSON header and binary attachments, all lengths said first.

``magic (4) | header length (u32) | number of attachments (u32) | length of each (u64) ... | header | attachments``, little endian.
The side that reads does not trust the side that writes: every length is checked against a bound before a byte of it is
kept, memory is only taken for bytes that came, and whatever is malformed is an error of its own class.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from appliance import limits
from appliance.errors import ApplianceError

MAGIC: Final = b"AFR1"
PREFIX: Final = struct.Struct("<4sII")
LENGTH: Final = struct.Struct("<Q")


class FrameError(ApplianceError, remedy="the hand is replaced; if it stays, look at the handler's module", exit_code=70):
    """What came is not a frame."""


class FrameGarbledError(FrameError, remedy="the hand is replaced; does the handler write to descriptors that are not its own?"):
    """The bytes do not begin as a frame does, or its header says what cannot be."""


class FrameTooLargeError(FrameError, remedy="let the handler answer with less, or in parts"):
    """The frame is over a bound."""


class FrameTornError(FrameError, remedy="the hand is replaced; its death says why"):
    """The bytes ended within a frame."""


@dataclass(frozen=True, slots=True)
class Frame:
    """One message: its header, as JSON, and its attachments."""

    header: bytes
    attachments: tuple[bytes, ...] = ()


def encode(frame: Frame) -> list[bytes]:
    """The frame as pieces to be written one after another.

    Raises ``FrameTooLargeError`` for a frame that the other side would refuse.
    """
    lengths = [len(attachment) for attachment in frame.attachments]
    table = b"".join(LENGTH.pack(length) for length in lengths)
    _check(len(frame.header), len(lengths), sum(lengths), limits.HAND_FRAME_BYTES_MAX)
    return [PREFIX.pack(MAGIC, len(frame.header), len(lengths)) + table + frame.header, *frame.attachments]


class Decoder:
    """Takes bytes as they come and gives frames as they are whole."""

    __slots__ = ("_bytes_max", "_held", "_wanted")

    def __init__(self, bytes_max: int = limits.HAND_FRAME_BYTES_MAX) -> None:
        """``bytes_max`` bounds the attachments of one frame together."""
        self._bytes_max = bytes_max
        self._held = bytearray()
        self._wanted = 0

    def feed(self, came: bytes) -> list[Frame]:
        """The frames that are whole with these bytes.

        Raises ``FrameGarbledError`` or ``FrameTooLargeError``; nothing that comes afterwards can be read.
        """
        self._held += came
        frames = []
        while len(self._held) >= self._wanted and (frame := self._take()) is not None:
            frames.append(frame)
        return frames

    def end(self) -> None:
        """Nothing more comes; ``FrameTornError`` when that is in the middle of a frame."""
        if self._held:
            message = f"the bytes end {len(self._held)} bytes into a frame"
            raise FrameTornError(message)

    def _take(self) -> Frame | None:
        """The first frame of what is held, or None with the size that it needs in ``_wanted``."""
        if not MAGIC.startswith(self._held[: len(MAGIC)]):
            message = f"a frame cannot begin with {bytes(self._held[: len(MAGIC)])!r}"
            raise FrameGarbledError(message)
        if len(self._held) < PREFIX.size:
            self._wanted = PREFIX.size
            return None
        _, header, count = PREFIX.unpack_from(self._held)
        _check(header, count, 0, self._bytes_max)
        start = PREFIX.size + count * LENGTH.size
        if len(self._held) < start:
            self._wanted = start
            return None
        lengths = struct.unpack_from(f"<{count}Q", self._held, PREFIX.size)
        _check(header, count, sum(lengths), self._bytes_max)
        end = start + header + sum(lengths)
        if len(self._held) < end:
            self._wanted = end
            return None
        return self._cut(start, header, lengths)

    def _cut(self, start: int, header: int, lengths: tuple[int, ...]) -> Frame:
        view = memoryview(self._held)
        ends = [start + header]
        for length in lengths:
            ends.append(ends[-1] + length)
        frame = Frame(bytes(view[start : ends[0]]), tuple(bytes(view[a:b]) for a, b in pairwise(ends)))
        view.release()
        del self._held[: ends[-1]]
        self._wanted = 0
        return frame


def _check(header: int, count: int, attached: int, bytes_max: int) -> None:
    if header > limits.HAND_HEADER_BYTES_MAX or count > limits.HAND_ATTACHMENTS_MOST or attached > bytes_max:
        message = (
            f"a header of {header} bytes and {count} attachments of {attached}: allowed are {limits.HAND_HEADER_BYTES_MAX}, "
            f"{limits.HAND_ATTACHMENTS_MOST} and {bytes_max}"
        )
        raise FrameTooLargeError(message)
