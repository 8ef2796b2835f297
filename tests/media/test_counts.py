"""What is counted in a picture equals the most obvious way to count it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from av import VideoFrame
from hypothesis import given
from hypothesis import strategies as st

from appliance.pipelines.media import packets, pixels, planes, records
from appliance.pipelines.media.profiles import Profile
from tests.media import reference

FORMATS = ("yuv420p", "yuv422p", "yuv444p", "yuvj420p", "yuv420p10le", "yuv422p12le", "yuv444p16le", "gray", "gbrp", "gray10le")
OPAQUE = ("rgb24", "nv12", "pal8", "yuyv422", "p010le", "bgr0", "gray10be", "monob")


def picture(pixels_name: str, width: int, height: int, seed: int) -> VideoFrame:
    """A picture of noise."""
    frame = VideoFrame(width, height, pixels_name)
    chance = np.random.default_rng(seed)
    bits = frame.format.components[0].bits
    for plane in frame.planes:
        if bits > 8:
            samples = chance.integers(0, 1 << bits, plane.buffer_size // 2).astype("<u2").tobytes()
            plane.update(samples + bytes(plane.buffer_size - len(samples)))
        else:
            plane.update(chance.bytes(plane.buffer_size))
    frame.pts = seed
    return frame


def measured(gauge: pixels.Gauge, frame: VideoFrame) -> Any:  # noqa: ANN401 - a row of numpy
    """The record of one picture."""
    return np.frombuffer(gauge.measure(frame), records.FRAME)[0]


@pytest.mark.parametrize("name", FORMATS)
@given(st.integers(1, 70), st.integers(1, 600), st.integers(0, 1000))
def test_counts_are_exact_in_every_format(name: str, width: int, height: int, seed: int) -> None:
    """Odd sizes, padded lines, more rows than one sum can hold."""
    gauge = pixels.Gauge(Profile())
    before = None
    for number in range(2):
        frame = picture(name, width, height, seed + number)
        expected = np.array([reference.record(frame, reference.samples(frame), before)], records.FRAME)[0]
        found = measured(gauge, frame)
        before = (f"{name} {width}x{height}", reference.samples(frame))
        for column in ("width", "height", "pixels", "depth", "sad", "min", "max", "sum", "crc"):
            assert np.array_equal(found[column], expected[column]), column
        if name.startswith("yuv4"):
            assert np.array_equal(found["low"], expected["low"])
            assert np.array_equal(found["high"], expected["high"])
            assert found["black"] == expected["black"]


def test_the_largest_sums_do_not_overflow() -> None:
    """All samples at their maximum, in a picture of 1300 rows."""
    for name, most in (("yuv444p", 255), ("yuv444p16le", 65535)):
        frame = VideoFrame(64, 1300, name)
        for plane in frame.planes:
            plane.update(b"\xff" * plane.buffer_size)
        found = measured(pixels.Gauge(Profile()), frame)
        assert found["sum"].tolist() == [64 * 1300 * most] * 3 + [0]


@pytest.mark.parametrize("name", OPAQUE)
def test_samples_that_are_not_counted_still_have_a_checksum(name: str) -> None:
    """Equal pictures have equal ones, others have others; nothing else is claimed."""
    gauge = pixels.Gauge(Profile())
    one, again, other = (measured(gauge, picture(name, 36, 20, seed)) for seed in (1, 1, 2))
    assert one["flags"] & records.OPAQUE
    assert one["crc"].any()
    assert np.array_equal(one["crc"], again["crc"])
    assert not np.array_equal(one["crc"], other["crc"])
    assert (one["sad"], one["black"], one["sum"].any()) == (records.NO_SAD, 0, False)


def test_padding_of_lines_is_not_counted() -> None:
    """What lies behind a line belongs to nobody."""
    frame = picture("yuv420p", 33, 9, 1)
    clean = measured(pixels.Gauge(Profile()), frame)
    plane = frame.planes[0]
    lines = np.frombuffer(memoryview(plane), np.uint8).reshape(-1, plane.line_size).copy()
    lines[:, 33:] = 0x5A
    plane.update(lines.tobytes())
    assert measured(pixels.Gauge(Profile()), frame) == clean


def test_a_change_of_shape_has_no_difference() -> None:
    """There is no picture before it that could be compared."""
    gauge = pixels.Gauge(Profile())
    sads = [measured(gauge, picture("yuv420p", width, 16, 1))["sad"] for width in (32, 32, 48, 48)]
    assert sads == [records.NO_SAD, 0, records.NO_SAD, 0]


@pytest.mark.parametrize(("name", "level"), [("yuv420p", 37), ("yuvj420p", 25), ("yuv420p10le", 151), ("yuv420p12le", 606)])
def test_the_black_level_is_that_of_blackdetect(name: str, level: int) -> None:
    """pixel_black_th=0.1 of the range above its foot, at any depth (libavfilter/vf_blackdetect.c)."""
    layout = planes.layout_of(picture(name, 16, 16, 1))
    assert pixels.black_level(layout, 100) == level


def test_records_of_numpy_and_struct_are_the_same_bytes() -> None:
    """The table is written by one and read by the other."""
    assert records.FRAME_PACK.size == records.FRAME.itemsize
    assert records.ERROR_PACK.size == records.ERROR.itemsize
    assert packets.PACK.size == packets.ROW.itemsize
