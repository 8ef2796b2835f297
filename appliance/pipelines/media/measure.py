"""One part of a film, measured: the frames from its key packet up to the next part's, and some of the next part's frames.

A part begins with the first frame shown that is its key packet's, and ends before that of the next part; pictures that are
shown before a key but coded after it belong to the part before.  Both ends use one rule, ``reaches``, so no frame is lost
or counted twice.  Nothing in here depends on another part: what crosses a seam is the fold's.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from av import VideoFrame

from appliance import Context, Done
from appliance.pipelines.media import bounds, engine, film, records
from appliance.pipelines.media.decoding import Trouble, decoded
from appliance.pipelines.media.indexing import look
from appliance.pipelines.media.landing import Feed, LostError, feeds
from appliance.pipelines.media.packets import Index, key_before
from appliance.pipelines.media.pixels import Gauge
from appliance.pipelines.media.profiles import Profile
from appliance.pipelines.media.refusals import Refusal, RefusedError


@dataclass(slots=True, kw_only=True)
class Cutting:
    """A part while it is measured: ``begin`` and ``end`` are packet ordinals, ``last`` says that the film ends with it."""

    begin: int
    end: int
    last: bool
    profile: Profile
    records: bytearray = field(default_factory=bytearray)
    overlap: bytearray = field(default_factory=bytearray)
    errors: bytearray = field(default_factory=bytearray)
    begun: bool = False
    over: bool = False

    @property
    def full(self) -> bool:
        """Whether the overlap is long enough."""
        return self.over and len(self.overlap) >= self.profile.overlap_frames * records.FRAME.itemsize

    def frame(self, frame: VideoFrame, gauge: Gauge) -> None:
        """Take the next frame that is shown."""
        self.begun = self.begun or reaches(frame.pts, self.begin)
        if not self.begun:
            return
        self.over = self.over or (not self.last and reaches(frame.pts, self.end))
        (self.overlap if self.over else self.records).extend(gauge.measure(frame))

    def trouble(self, trouble: Trouble) -> None:
        """Take an error, if it is about a packet of this part."""
        if self.begin <= trouble.ordinal < self.end:
            self.errors += records.ERROR_PACK.pack(trouble.ordinal, trouble.code)


def reaches(ordinal: int | None, cut: int) -> bool:
    """Whether a frame stands at a cut, or so far behind it that the cut's own frame will not come."""
    return ordinal is not None and (ordinal == cut or ordinal >= cut + bounds.LEAD_FRAMES_MAX)


def measure(context: Context, path: Path, index: Index) -> Done:
    """Measure the part ``context.ordinal`` with a run-in of ``context.params["run_in"]`` key packets.

    The files are ``records`` and ``overlap`` (dtype ``records.FRAME``) and ``errors`` (dtype ``records.ERROR``).
    Raises ``RefusedError`` if the film is not the one of the index.
    """
    number = context.ordinal or 0
    begin, end = index.limits(number)
    run_in = int(str(context.params.get("run_in", 0)))
    start = key_before(index.rows, begin, run_in)
    for feed in feeds(path, index, start):
        part = Cutting(
            begin=begin, end=end, last=end == len(index.rows), profile=Profile(**index.header["profile"]), begun=begin == 0
        )
        try:
            take(feed, part, context, len(index.rows))
        except LostError:
            continue
        return handed_in(part, {"landing": feed.how, "start": start, "run_in": run_in})
    raise RefusedError(Refusal.CHANGED)


def take(feed: Feed, part: Cutting, context: Context, packets: int) -> None:
    """Decode until the part and its overlap are measured."""
    gauge = Gauge(part.profile)
    stop = packets if part.last else min(packets, part.end + bounds.LEAD_FRAMES_MAX + bounds.RUN_OUT_PACKETS_MAX)
    for count, answer in enumerate(decoded(feed, stop, packets)):
        if isinstance(answer, Trouble):
            part.trouble(answer)
        else:
            part.frame(answer, gauge)
        if part.full:
            return
        if count % bounds.PACKETS_BETWEEN_LOOKS == 0:
            look(context, count, part.end - feed.start)


def handed_in(part: Cutting, how: dict[str, Any]) -> Done:
    """The part as its outcome."""
    tables: Iterable[tuple[str, bytearray, int]] = (
        ("records", part.records, records.FRAME.itemsize),
        ("overlap", part.overlap, records.FRAME.itemsize),
        ("errors", part.errors, records.ERROR.itemsize),
    )
    counts = {name: len(table) // size for name, table, size in tables}
    return Done({**how, **counts}, files={name: bytes(table) for name, table, _ in tables})


def unchanged(path: Path, index: Index) -> None:
    """Raise ``RefusedError`` unless the film is still the one of the index."""
    film.unchanged(path, film.Identity(*index.header["identity"]))


def planned_here(index: Index) -> None:
    """Raise ``RefusedError`` unless the plan was made by this engine."""
    if index.header["engine"] != engine.fingerprint():
        raise RefusedError(Refusal.OTHER_ENGINE)
