"""What the samples of a picture are: how many planes, how deep, and how a plane is seen by numpy without a copy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from av import VideoFrame
from av.video.format import VideoFormat, VideoFormatComponent
from av.video.plane import VideoPlane
from numpy.typing import NDArray

from appliance.pipelines.media import records

Samples = NDArray[Any]
DEPTHS: Final = range(8, 17)
YUV_PARTS: Final = 3  # PyAV calls a component chroma only where it is subsampled, so 4:4:4 would have none
FULL: Final = 2  # AVCOL_RANGE_JPEG


@dataclass(frozen=True, slots=True)
class Layout:
    """The shape of a picture: ``widths`` and ``heights`` of its planes in samples (in bytes for an opaque one)."""

    pixels: str
    width: int
    height: int
    depth: int
    flags: int
    widths: tuple[int, ...]
    heights: tuple[int, ...]

    @property
    def opaque(self) -> bool:
        """Whether the samples cannot be told apart here."""
        return bool(self.flags & records.OPAQUE)

    @property
    def ranged(self) -> bool:
        """Whether samples outside the studio range are violations."""
        return not self.flags & (records.OPAQUE | records.NOT_YUV | records.FULL_RANGE)

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of a sample."""
        return np.dtype(np.uint8 if self.depth <= 8 or self.opaque else np.dtype("<u2"))  # noqa: PLR2004 - bits of a byte


def layout_of(frame: VideoFrame) -> Layout:
    """The layout of a decoded picture."""
    pixels = frame.format
    parts = pixels.components
    depth = max((part.bits for part in parts), default=0)
    opaque = not countable(pixels)
    flags = records.OPAQUE * opaque + records.NOT_YUV * (pixels.is_rgb or len(parts) < YUV_PARTS)
    flags += records.FULL_RANGE * (pixels.name.startswith("yuvj") or frame.color_range == FULL)
    planes = sorted(parts, key=lambda part: part.plane)[: records.PLANES]
    if opaque:
        widths, heights = opaque_shape(pixels)
    else:
        widths, heights = tuple(part.width for part in planes), tuple(part.height for part in planes)
    return Layout(pixels.name, frame.width, frame.height, depth, flags, widths, heights)


def countable(pixels: VideoFormat) -> bool:
    """Whether each component has a plane of its own, as little-endian integers of one depth."""
    parts = pixels.components
    odd = pixels.has_palette or pixels.is_bit_stream or pixels.is_big_endian or pixels.is_bayer
    return not odd and len({part.plane for part in parts}) == len(parts) and {part.bits for part in parts} <= one_depth(parts)


def one_depth(parts: tuple[VideoFormatComponent, ...]) -> set[int]:
    """The depth of the first component as a set, empty if it is not 8 to 16 bits."""
    return {part.bits for part in parts[:1] if part.bits in DEPTHS}


def opaque_shape(pixels: VideoFormat) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Bytes a row, and rows, of each plane of a picture whose samples are not counted."""
    planes = sorted({part.plane for part in pixels.components})
    if len(planes) == 1:
        return ((pixels.width * pixels.padded_bits_per_pixel + 7) // 8,), (pixels.height,)
    widths, heights = [], []
    for plane in planes[: records.PLANES]:
        inside = [part for part in pixels.components if part.plane == plane]
        widths.append(sum(part.width * (-(-part.bits // 8)) for part in inside))
        heights.append(inside[0].height)
    return tuple(widths), tuple(heights)


def seen(plane: VideoPlane, layout: Layout, number: int) -> Samples | None:
    """The samples of a plane as an array of (rows, columns) over the decoder's own memory, without the padding of its lines.

    None if the decoder keeps the picture upside down (negative line size).
    """
    if plane.line_size <= 0:
        return None
    size = layout.dtype.itemsize
    lines = np.frombuffer(memoryview(plane), np.uint8)[: plane.line_size * layout.heights[number]].reshape(-1, plane.line_size)
    samples: Samples = lines[:, : layout.widths[number] * size].view(layout.dtype)
    return samples
