"""The index of a film: its digest, one demux pass over its video, and what both tell without decoding."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import av
from av.packet import Packet
from av.video.stream import VideoStream

from appliance import Context
from appliance.pipelines.media import bounds, engine, film, packets, streams, timestamps
from appliance.pipelines.media.film import Reel
from appliance.pipelines.media.plan import plan
from appliance.pipelines.media.profiles import Profile
from appliance.pipelines.media.refusals import CancelledError, Refusal, RefusedError

TS_PACKET_BYTES: Final = (188, 192, 204)  # ISO/IEC 13818-1, Blu-ray's BDAV, DVB


def index(path: Path, profile: Profile, context: Context) -> tuple[dict[str, Any], bytearray]:
    """The header and the rows of a film's index (see ``packets``).

    Raises ``RefusedError`` for what cannot be a film, ``CancelledError`` when asked to stop, and FFmpeg's errors about this box.
    """
    identity = film.identify(path)
    with film.opened(path) as reel:
        rows, trouble = demuxed(reel, context, identity.size_bytes)
        header = described(reel, packets.rows_of(rows), profile)
    header["container"] |= {"demux_error": trouble, "ragged": ragged(header["container"]["format"], identity.size_bytes)}
    header["film"] = {
        "sha256": film.digest(path, lambda done: look(context, identity.size_bytes + done, 2 * identity.size_bytes)),
        "size_bytes": identity.size_bytes,
    }
    header["plan"] = plan(packets.rows_of(rows), profile, {"film": header["film"], "engine": header["engine"]})
    film.unchanged(path, identity)
    return {**header, "identity": identity.as_json()}, rows


def described(reel: Reel, rows: packets.Rows, profile: Profile) -> dict[str, Any]:
    """What container, streams and time stamps say."""
    container, video = reel.container, reel.video
    return {
        "engine": engine.fingerprint(),
        "profile": profile.as_json(),
        "container": {
            "format": container.format.name,
            "promise": streams.promise(container, video),
            "span_ms": streams.span_ms(rows, video.time_base),
            "corrupt": timestamps.ranges((rows["flags"] & packets.CORRUPT).nonzero()[0]),
            "empty": timestamps.ranges((rows["size"] == 0).nonzero()[0]),
        },
        "streams": streams.listed(container),
        "measured": {"stream": video.index, "time_base": streams.ratio(video.time_base)},
        "timestamps": timestamps.findings(rows, container.format.name, video.time_base, profile),
    }


def ragged(container: str, size_bytes: int) -> bool:
    """Whether a transport stream ends inside a packet of 188, 192 (with a time code) or 204 bytes (with Reed-Solomon code)."""
    return container == "mpegts" and all(size_bytes % size for size in TS_PACKET_BYTES)


def demuxed(reel: Reel, context: Context, size_bytes: int) -> tuple[bytearray, str | None]:
    """All rows, and the name of the error at which the demuxer gave up, if it did.

    Raises ``RefusedError`` for a film without a packet, with too many, or with a picture over the bounds.
    """
    large(reel)
    rows = bytearray()
    trouble = None
    try:
        for ordinal, packet in enumerate(real(reel)):
            if ordinal >= bounds.PACKETS_MAX:
                raise RefusedError(Refusal.TOO_MANY_PACKETS)
            rows += packets.row(packet.pts, packet.dts, packet.pos, packet.size, flags(packet))
            if ordinal % bounds.PACKETS_BETWEEN_LOOKS == 0:
                look(context, packet.pos or 0, 2 * size_bytes)  # the digest reads it once more
    except av.error.FFmpegError as error:
        film.told_by_the_film(error)
        trouble = type(error).__name__
    if not rows:
        raise RefusedError(Refusal.NO_PACKETS)
    return rows, trouble


def large(reel: Reel) -> None:
    """Raise ``RefusedError`` if the header says that the picture is over the bounds."""
    codec = reel.video.codec_context
    if max(codec.width, codec.height) > bounds.SIDE_PIXELS_MAX or codec.width * codec.height > bounds.PICTURE_PIXELS_MAX:
        raise RefusedError(Refusal.TOO_LARGE_PICTURE, f"{codec.width}x{codec.height}")


def real(reel: Reel) -> Iterator[Packet[VideoStream]]:
    """The packets of the video, without the empty one that PyAV adds at the end to flush a decoder."""
    held: Packet[VideoStream] | None = None
    try:
        for packet in reel.container.demux(reel.video):
            if held is not None:
                yield held
            held = packet
    except av.error.FFmpegError:
        if held is not None:
            yield held
        raise


def flags(packet: Packet[VideoStream]) -> int:
    """A packet's flags as in the index."""
    return packets.KEY * packet.is_keyframe + packets.DISCARD * packet.is_discard + packets.CORRUPT * packet.is_corrupt


def look(context: Context, done: int, total: int) -> None:
    """Tell the progress; raises ``CancelledError`` when the job was asked to stop."""
    context.progress(min(done, total), total)
    if context.cancelled():
        raise CancelledError
