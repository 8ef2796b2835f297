"""The pipes between the supervisor and one child: what it says comes up, deaths go down.

Only pipes and signals, so that a child killed at any moment leaves nothing locked behind.
"""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass, field

import msgspec

from appliance import limits
from appliance.runtime.supervision.seats import Said

CHUNK = 65_536


@dataclass(frozen=True, slots=True, kw_only=True)
class Channel:
    """Our ends of a child's pipes.  What the child says is kept until its line is whole, up to a bound."""

    line: int
    deaths: int | None
    bytes_max: int = limits.CHILD_LINE_BYTES_MAX
    pending: bytearray = field(default_factory=bytearray)

    def hear(self) -> bool:
        """Take in some of what the child said; False when nothing more will come, because it has ended or says too much."""
        if len(self.pending) > self.bytes_max:
            return False
        try:
            came = os.read(self.line, CHUNK)
        except BlockingIOError:
            return True
        self.pending.extend(came)
        return bool(came)

    def drain(self) -> None:
        """Take in the last words of a dead child, up to the bound."""
        with contextlib.suppress(BlockingIOError):
            while len(self.pending) <= self.bytes_max and (came := os.read(self.line, CHUNK)):
                self.pending.extend(came)

    def said(self) -> list[Said]:
        """The whole lines so far, without those that cannot be understood."""
        *lines, rest = bytes(self.pending).split(b"\n")
        self.pending[:] = rest
        found = []
        for text in lines:
            with contextlib.suppress(msgspec.MsgspecError):
                found.append(msgspec.json.decode(text, type=Said))
        return found

    def tell(self, line: bytes) -> bool:
        """Tell the child of a death; False when its pipe is full or gone: it then learns from its own view of the processes."""
        if self.deaths is None:
            return True
        try:
            return os.write(self.deaths, line) == len(line)
        except (BlockingIOError, BrokenPipeError):
            return False

    def close(self) -> None:
        """Close our ends."""
        os.close(self.line)
        if self.deaths is not None:
            os.close(self.deaths)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pipes:
    """All pipes of a child, before the fork; each side then closes the ends of the other."""

    stop_reader: int
    stop_writer: int
    line_reader: int
    line_writer: int
    deaths_reader: int | None
    deaths_writer: int | None

    @property
    def theirs(self) -> list[int]:
        """The child's ends."""
        ends = (self.stop_reader, self.stop_writer, self.line_writer, self.deaths_reader)
        return [descriptor for descriptor in ends if descriptor is not None]

    @property
    def ours(self) -> list[int]:
        """The supervisor's ends."""
        return [descriptor for descriptor in (self.line_reader, self.deaths_writer) if descriptor is not None]


def make(*, wants_deaths: bool) -> Pipes:
    """New pipes, none of which ever blocks."""
    mode = os.O_NONBLOCK | os.O_CLOEXEC
    stop_reader, stop_writer = os.pipe2(mode)
    line_reader, line_writer = os.pipe2(mode)
    deaths_reader, deaths_writer = os.pipe2(mode) if wants_deaths else (None, None)
    return Pipes(
        stop_reader=stop_reader,
        stop_writer=stop_writer,
        line_reader=line_reader,
        line_writer=line_writer,
        deaths_reader=deaths_reader,
        deaths_writer=deaths_writer,
    )


def close(descriptors: list[int]) -> None:
    """Close each of these."""
    for descriptor in descriptors:
        os.close(descriptor)
