"""Frames come back as they went, however the bytes are cut; everything else is an error of its own class."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from appliance import limits
from appliance.runtime.hands import frames
from appliance.runtime.hands.frames import (
    MAGIC,
    PREFIX,
    Decoder,
    Frame,
    FrameError,
    FrameGarbledError,
    FrameTooLargeError,
    FrameTornError,
)

FRAMES = st.builds(Frame, st.binary(max_size=200), st.lists(st.binary(max_size=200), max_size=5).map(tuple))


def bytes_of(*sent: Frame) -> bytes:
    """The frames as they pass the pipe."""
    return b"".join(piece for frame in sent for piece in frames.encode(frame))


@given(st.lists(FRAMES, max_size=5), st.lists(st.integers(1, 50), min_size=1, max_size=20))
def test_frames_come_back_whole_however_the_bytes_are_cut(sent: list[Frame], cuts: list[int]) -> None:
    """A pipe gives what it has, not what was written at once."""
    raw, decoder = bytes_of(*sent), Decoder()
    got: list[Frame] = []
    while raw:
        cut = cuts[len(got) % len(cuts)]
        got += decoder.feed(raw[:cut])
        raw = raw[cut:]
    decoder.end()
    assert got == sent


@given(FRAMES, st.data())
def test_bytes_that_end_within_a_frame_are_torn(sent: Frame, data: st.DataObject) -> None:
    """A hand that dies while it answers has not answered."""
    raw = bytes_of(sent)
    decoder = Decoder()
    assert decoder.feed(raw[: data.draw(st.integers(1, len(raw) - 1))]) == []
    with pytest.raises(FrameTornError):
        decoder.end()


@given(st.binary(max_size=300))
def test_any_bytes_are_frames_or_a_frame_error(raw: bytes) -> None:
    """No other exception, and nothing allocated beyond what came."""
    decoder = Decoder(bytes_max=1_000)
    with contextlib.suppress(FrameError):
        decoder.feed(raw)
        decoder.end()


@given(FRAMES, st.integers(0, 60), st.integers(1, 255))
def test_a_changed_byte_is_another_frame_or_a_frame_error(sent: Frame, at: int, change: int) -> None:
    """Frames carry no checksum, as a pipe loses nothing; what a liar makes of them is caught by the bounds and the codec."""
    raw = bytearray(bytes_of(sent))
    raw[at % len(raw)] ^= change
    with contextlib.suppress(FrameError):
        Decoder(bytes_max=1_000).feed(bytes(raw))


def test_the_first_wrong_byte_is_enough() -> None:
    """Nothing is waited for that cannot become a frame."""
    with pytest.raises(FrameGarbledError):
        Decoder().feed(b"H")


@pytest.mark.parametrize(
    ("header", "count", "length"),
    [(limits.HAND_HEADER_BYTES_MAX + 1, 0, 0), (0, limits.HAND_ATTACHMENTS_MOST + 1, 0), (0, 1, 1_001)],
)
def test_a_frame_over_a_bound_is_refused_before_it_has_come(header: int, count: int, length: int) -> None:
    """Its lengths are said first."""
    raw = PREFIX.pack(MAGIC, header, count) + frames.LENGTH.pack(length) * min(count, 1)
    with pytest.raises(FrameTooLargeError):
        Decoder(bytes_max=1_000).feed(raw)


def test_a_frame_that_the_other_side_would_refuse_is_not_sent() -> None:
    """The sender learns of it, not the reader."""
    with pytest.raises(FrameTooLargeError):
        frames.encode(Frame(b"{}", (b"",) * (limits.HAND_ATTACHMENTS_MOST + 1)))
