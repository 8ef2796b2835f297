"""How a worker gets to a packet: it seeks, and then believes nothing until it has seen on which packet it landed.

Plain seeking was wrong in 5 of 18 formats.  So each packet after a seek is looked up in the index by position and size (by pts
and size where the container gives no position), and every following packet is compared with its row, down to the end of
the part.  Where a seek lands behind the wanted packet, it aims some keys further back; where it lands nowhere, the film is
demuxed from its start, which is always right and costs reading.  The order of trials is a function of the film alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Final

import av
import numpy as np
from av.packet import Packet
from av.video.stream import VideoStream

from appliance.pipelines.media import bounds, film
from appliance.pipelines.media.film import Reel
from appliance.pipelines.media.indexing import real
from appliance.pipelines.media.packets import NONE, Index, Rows, key_before

BY_BYTE: Final = frozenset({"mpegts", "mpeg", "h264", "hevc", "mpegvideo", "m4v", "h263", "vc1", "obu", "dv"})


class LostError(Exception):
    """A packet is not the one that the index has in its place."""


@dataclass(frozen=True, slots=True)
class Feed:
    """Packets of the opened film from ``start`` on, each verified when it is taken; ``how`` says how it was reached."""

    reel: Reel
    start: int
    how: str
    packets: Iterator[Packet[VideoStream]]


def feeds(path: Path, index: Index, start: int) -> Iterator[Feed]:
    """Ways to read the packets from ``start`` on, the cheapest first; take the next one after a ``LostError``."""
    if start > 0:
        for how in ("byte", "time") if index.header["container"]["format"] in BY_BYTE else ("time",):
            for back in bounds.SEEK_BACK_KEYS:
                with film.opened(path) as reel:
                    begun = sought(reel, index.rows, key_before(index.rows, start, back), how)
                    if begun is not None and begun[0] <= start:
                        yield Feed(reel, start, f"{how}-{back}", from_start(*begun, index.rows, start))
    with film.opened(path) as reel:
        yield Feed(reel, start, "demux", from_start(0, real(reel), index.rows, start))


def sought(reel: Reel, rows: Rows, aim: int, how: str) -> tuple[int, Iterator[Packet[VideoStream]]] | None:
    """Seek to the packet ``aim``; the ordinal on which it landed and the packets from there, or None if it landed nowhere."""
    try:
        if not seek(reel, rows[aim], how):
            return None
        following = real(reel)
        for packet in islice(following, bounds.LANDING_PACKETS_MAX):
            ordinal = aim if same(packet, rows[aim]) else found(packet, rows)
            if ordinal is not None:
                return ordinal, chain((packet,), following)
    except av.error.FFmpegError as error:
        if film.of_the_box(error):
            raise
    return None


def seek(reel: Reel, row: np.void, how: str) -> bool:
    """Seek by byte or by time; False if the row has no such thing."""
    if how == "byte":
        if row["pos"] == NONE:
            return False
        reel.container.seek(int(row["pos"]), unsupported_byte_offset=True)
        return True
    stamp = row["pts"] if row["pts"] != NONE else row["dts"]
    if stamp == NONE:
        return False
    reel.container.seek(int(stamp), stream=reel.video, backward=True)
    return True


def same(packet: Packet[VideoStream], row: np.void) -> bool:
    """Whether the packet is the row's: by position and size, or by pts and size without a position."""
    if packet.size != row["size"]:
        return False
    if packet.pos is not None or row["pos"] != NONE:
        return bool(packet.pos == row["pos"])
    return bool((NONE if packet.pts is None else packet.pts) == row["pts"])


def found(packet: Packet[VideoStream], rows: Rows) -> int | None:
    """The ordinal of the packet if exactly one row is like it."""
    column, value = ("pos", packet.pos) if packet.pos is not None else ("pts", packet.pts)
    if value is None:
        return None
    like = np.flatnonzero((rows[column] == value) & (rows["size"] == packet.size))
    return int(like[0]) if len(like) == 1 else None


def from_start(at: int, following: Iterator[Packet[VideoStream]], rows: Rows, start: int) -> Iterator[Packet[VideoStream]]:
    """The packets from ``start`` on, of those from ``at`` on; raises ``LostError`` at the first that is not the index's."""
    for ordinal, packet in zip(range(at, len(rows)), following, strict=False):
        if not same(packet, rows[ordinal]):
            raise LostError
        if ordinal >= start:
            yield packet
