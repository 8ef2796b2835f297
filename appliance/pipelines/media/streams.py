"""What the container holds: its streams, listed and not decoded, and what it promises about its length."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, Final

import av
from av.container import InputContainer
from av.stream import Stream
from av.video.stream import VideoStream

from appliance.pipelines.media import bounds
from appliance.pipelines.media.packets import NONE, Rows

DECLARING: Final = frozenset({"asf", "avi", "flv", "matroska", "mov", "mxf"})  # the others guess their length from the data


def ratio(value: Fraction | None) -> str | None:
    """A fraction as it stands in the report."""
    return None if value is None else f"{value.numerator}/{value.denominator}"


def listed(container: InputContainer) -> list[dict[str, Any]]:
    """Every stream with its type, codec and shape, up to a bound."""
    return [described(stream) for stream in list(container.streams)[: bounds.STREAMS_LISTED_MAX]]


def described(stream: Stream) -> dict[str, Any]:
    """One stream as JSON; times are in units of its time base."""
    codec = getattr(stream, "codec_context", None)
    said: dict[str, Any] = {
        "index": stream.index,
        "type": stream.type,
        "codec": codec.name if codec is not None else None,
        "time_base": ratio(stream.time_base),
        "start": stream.start_time,
    }
    if isinstance(stream, VideoStream) and codec is not None:
        said |= {
            "width": codec.width,
            "height": codec.height,
            "pixels": codec.pix_fmt,
            "rate": ratio(stream.average_rate),
            "aspect": ratio(stream.sample_aspect_ratio),
        }
    if isinstance(stream, av.AudioStream) and codec is not None:
        said |= {"sample_rate": codec.sample_rate, "channels": codec.channels}
    return said


def promise(container: InputContainer, video: VideoStream) -> dict[str, int | None]:
    """What the header says about the video: frames, and milliseconds; None where it says nothing or only guesses."""
    if not DECLARING.intersection(container.format.name.split(",")):
        return {"frames": None, "duration_ms": None}
    duration = None
    if video.duration is not None and video.time_base is not None:
        duration = int(video.duration * video.time_base * 1000)
    elif container.duration is not None:
        duration = container.duration * 1000 // av.time_base
    return {"frames": video.frames or None, "duration_ms": duration}


def span_ms(rows: Rows, time_base: Fraction | None) -> int | None:
    """The milliseconds from the first to the last time stamp of the packets, plus one mean step; None without two stamps."""
    known = [rows[name][rows[name] != NONE] for name in ("pts", "dts")]
    stamps = known[0] if len(known[0]) > 1 else known[1]
    steps = len(stamps) - 1
    if steps < 1 or time_base is None:
        return None
    ticks = int(stamps.max()) - int(stamps.min())
    return int((ticks + ticks // steps) * time_base * 1000)
