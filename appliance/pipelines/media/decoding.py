"""The decoder's loop: packets go in under their ordinals, pictures and troubles come out.

Each packet's time stamps are overwritten with its ordinal, so a picture says which packet it is from, whatever the film's own
stamps say.  An error of the decoder is a fact about the film; an error about this box (memory, disk) is raised.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import av
from av import VideoFrame
from av.packet import Packet
from av.video.stream import VideoStream

from appliance.pipelines.media import film
from appliance.pipelines.media.landing import Feed


@dataclass(frozen=True, slots=True)
class Trouble:
    """The decoder refused a packet: its ordinal, and FFmpeg's error number."""

    ordinal: int
    code: int


def decoded(feed: Feed, until: int, end: int) -> Iterator[VideoFrame | Trouble]:
    """What the decoder makes of the packets from the feed's start up to ``until``; flushed only if that is the film's ``end``."""
    codec = feed.reel.video.codec_context
    ordinal = feed.start - 1
    for packet in feed.packets:
        ordinal += 1
        if ordinal >= until:
            return
        if packet.size:
            packet.pts = packet.dts = ordinal
            yield from answer(codec, packet, ordinal)
    if until >= end:
        yield from answer(codec, None, max(ordinal, 0))


def answer(codec: av.VideoCodecContext, packet: Packet[VideoStream] | None, ordinal: int) -> list[VideoFrame] | list[Trouble]:
    """The pictures that one packet (or the flush) brings out, or the trouble it makes."""
    try:
        return codec.decode(packet)
    except av.error.EOFError:
        return []
    except av.error.FFmpegError as error:
        if film.of_the_box(error):
            raise
        return [Trouble(ordinal, error.errno or 0)]
