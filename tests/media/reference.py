"""The reference: one continuous decode of a film, counted in the most obvious way, sharing no code with the product.

It gives the same table as the frame data, so the two can be compared as they are.
"""

from __future__ import annotations

import zlib
from pathlib import Path
from typing import Any

import av
import numpy as np
from av import VideoFrame
from numpy.typing import NDArray

from appliance.pipelines.media import records

Planes = list[NDArray[Any]]
SEPARATE = ("yuv", "gbrp", "gray")  # names of formats whose components lie in planes of their own


def continuous(path: Path) -> NDArray[np.void]:
    """All frames of the film's first video, in the order of showing, as ``records.FRAME``."""
    found = []
    before: tuple[str, Planes] | None = None
    with av.open(str(path)) as container:
        stream = container.streams.video[0]
        stream.thread_type = "NONE"
        stream.codec_context.thread_count = 1
        ordinal = 0
        for packet in container.demux(stream):
            if packet.size:
                packet.pts = packet.dts = ordinal
                ordinal += 1
            for frame in stream.codec_context.decode(packet if packet.size else None):
                planes = samples(frame)
                found.append(record(frame, planes, before))
                before = (f"{frame.format.name} {frame.width}x{frame.height}", planes)
    return np.array(found, records.FRAME)


def samples(frame: VideoFrame) -> Planes:
    """Every plane as rows and columns of samples."""
    wide = frame.format.components[0].bits > 8
    planes = []
    for plane in frame.planes:
        lines = np.frombuffer(bytes(plane), np.uint8).reshape(-1, plane.line_size)[: plane.height]
        if frame.format.name.startswith(SEPARATE):
            planes.append(lines[:, : plane.width * (2 if wide else 1)].copy().view("<u2" if wide else np.uint8))
        else:
            planes.append(lines[:, : plane.width * frame.format.padded_bits_per_pixel // 8].copy())
    return planes


def record(frame: VideoFrame, planes: Planes, before: tuple[str, Planes] | None) -> tuple[Any, ...]:
    """One frame, counted."""
    name = frame.format.name
    depth = max(part.bits for part in frame.format.components)
    yuv, counted, full = name.startswith("yuv"), name.startswith(SEPARATE), frame.color_range == 2
    state = 1 * frame.key_frame + 2 * frame.is_corrupt + 4 * frame.interlaced_frame + 8 * full + 16 * (not yuv) + 32 * (not counted)
    scale = 1 << (depth - 8)
    luma = planes[0].astype(np.int64)
    black = int((luma <= 16 * scale + 219 * scale // 10).sum()) if yuv else 0
    like = before is not None and before[0] == f"{name} {frame.width}x{frame.height}"
    sad = int(np.abs(luma - before[1][0].astype(np.int64)).sum()) if before is not None and like and counted else -1
    table = np.zeros((6, 4), np.int64)
    for place, plane in enumerate(planes):
        wide = plane.astype(np.int64)
        high = (235 if place == 0 else 240) * scale
        outside = [(wide < 16 * scale).sum(), (wide > high).sum()] if yuv and not full else [0, 0]
        counts = [wide.min(), wide.max(), wide.sum(), *outside] if counted else [0] * 5
        table[:, place] = [*counts, zlib.crc32(plane.tobytes())]
    head = (frame.pts, frame.width, frame.height, name.encode(), depth, int(frame.pict_type), state, black, sad)
    return (*head, *(tuple(row) for row in table))
