"""What is counted in a picture: integers only, a few passes of numpy over memory that stays in the cache.

How the passes are saved (figures in decision 0012): a plane is copied once, into a buffer of its own, so that its rows lie
together for CRC-32 and the decoder gets its picture back; sums run down the columns in 16 bits, 256 rows at a time, which
cannot overflow; the sum of absolute differences is 2 * sum(max(a, b)) - sum(a) - sum(b), one pass instead of three; samples
outside a range are only counted where minimum or maximum say that there are some.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from av import VideoFrame
from numpy.typing import NDArray

from appliance.pipelines.media import records
from appliance.pipelines.media.planes import Layout, Samples, layout_of, seen
from appliance.pipelines.media.profiles import Profile

ROWS_SUMMED: Final = 256  # 256 * 255 < 2**16
LOWEST: Final = 16
HIGHEST: Final = (235, 240, 240, 235)  # luma, chroma, chroma, alpha: ITU-R BT.601, BT.709, BT.2020
STUDIO_STEPS: Final = 219
ABSENT: Final = (0, 0, 0, 0, 0, 0)

Counts = tuple[int, int, int, int, int, int]  # minimum, maximum, sum, below, above, CRC-32


@dataclass(slots=True)
class Bench:
    """The buffers for pictures of one layout; ``shown`` says whether ``before`` holds the picture shown before."""

    layout: Layout
    planes: list[Samples]
    before: Samples
    scratch: Samples
    truths: NDArray[np.bool_]
    shown: bool = False
    sum_before: int = 0


def bench(layout: Layout) -> Bench:
    """Buffers for a layout."""
    shapes = list(zip(layout.heights, layout.widths, strict=True))
    planes = [np.empty(shape, layout.dtype) for shape in shapes]
    first = planes[0]
    return Bench(layout, planes, np.empty_like(first), np.empty_like(first), np.empty(first.shape, bool))


@dataclass(slots=True)
class Gauge:
    """Measures pictures in the order in which they are shown; forgets the one before when the layout changes."""

    profile: Profile
    bench: Bench | None = field(default=None)

    def measure(self, frame: VideoFrame) -> bytes:
        """The record of a picture, as bytes of the dtype ``records.FRAME``."""
        layout = layout_of(frame)
        if self.bench is None or self.bench.layout != layout:
            self.bench = bench(layout)
        table = self.bench
        black, sad, counts = measured(frame, table, self.profile)
        return records.FRAME_PACK.pack(
            records.NO_ORDINAL if frame.pts is None else frame.pts,
            layout.width,
            layout.height,
            layout.pixels.encode("ascii")[:16],
            layout.depth,
            int(frame.pict_type) & 0xFF,
            flags(frame, layout),
            black,
            sad,
            *(number for column in zip(*counts, strict=True) for number in column),
        )


def flags(frame: VideoFrame, layout: Layout) -> int:
    """The flags of a record."""
    said = records.KEY * frame.key_frame + records.CORRUPT * frame.is_corrupt + records.INTERLACED * frame.interlaced_frame
    return int(said) | layout.flags


def measured(frame: VideoFrame, table: Bench, profile: Profile) -> tuple[int, int, list[Counts]]:
    """Black samples, difference to the picture before, and the counts of all four places for planes."""
    layout = table.layout
    counts = [ABSENT] * records.PLANES
    for number, plane in enumerate(frame.planes[: len(table.planes)]):
        source = seen(plane, layout, number)
        if source is None:
            table.shown = False
            return 0, records.NO_SAD, [ABSENT] * records.PLANES
        held = table.planes[number]
        np.copyto(held, source)
        counts[number] = (0, 0, 0, 0, 0, zlib.crc32(held.data)) if layout.opaque else counted(held, table, number)
    if layout.opaque:
        return 0, records.NO_SAD, counts
    return black(table, counts[0], profile), difference(table, counts[0][2]), counts


def counted(plane: Samples, table: Bench, number: int) -> Counts:
    """The counts of one plane."""
    least, most = int(plane.min()), int(plane.max())
    below = above = 0
    if table.layout.ranged:
        scale = table.layout.depth - 8
        low, high = LOWEST << scale, HIGHEST[number] << scale
        truths = table.truths.reshape(-1)[: plane.size].reshape(plane.shape)
        below = int(np.count_nonzero(np.less(plane, low, out=truths))) if least < low else 0
        above = int(np.count_nonzero(np.greater(plane, high, out=truths))) if most > high else 0
    return least, most, total(plane), below, above, zlib.crc32(plane.data)


def total(plane: Samples) -> int:
    """The exact sum of all samples."""
    if plane.dtype.itemsize > 1:
        return int(plane.sum(axis=0, dtype=np.uint32).sum(dtype=np.uint64))
    pieces = range(0, len(plane), ROWS_SUMMED)
    return sum(int(plane[at : at + ROWS_SUMMED].sum(axis=0, dtype=np.uint16).sum(dtype=np.uint64)) for at in pieces)


def black(table: Bench, luma: Counts, profile: Profile) -> int:
    """The luma samples at or below the black threshold (as in ffmpeg's blackdetect); 0 where there is no luma."""
    if table.layout.flags & records.NOT_YUV:
        return 0
    level = black_level(table.layout, profile.black_luma_permille)
    if luma[0] > level:
        return 0
    return int(np.count_nonzero(np.less_equal(table.planes[0], level, out=table.truths)))


def black_level(layout: Layout, permille: int) -> int:
    """The highest luma that counts as black: a share of the usable range above its foot, scaled by the depth."""
    scale = layout.depth - 8
    if layout.flags & records.FULL_RANGE:
        return ((1 << layout.depth) - 1) * permille // 1000
    return (LOWEST << scale) + (STUDIO_STEPS << scale) * permille // 1000


def difference(table: Bench, sum_now: int) -> int:
    """The sum of absolute differences of the first plane to the picture before, which the plane then becomes."""
    now, then = table.planes[0], table.before
    sad = 2 * total(np.maximum(now, then, out=table.scratch)) - sum_now - table.sum_before if table.shown else records.NO_SAD
    table.planes[0], table.before = then, now
    table.shown, table.sum_before = True, sum_now
    return sad
