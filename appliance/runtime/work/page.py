"""What a process is doing this moment, where others can read it after its death: one small file in memory, written without SQL.

A worker notes each job before it starts and clears the note after it.  When it is killed, the page says which job of its batch was
the one at work, and only that one is charged.

The record is kept twice, and written alternately, each copy with a sequence number and a checksum.  A writer killed in the middle
of a copy therefore leaves the other one whole: the state just before the write, which is the true one, as the job had not
started (or not ended) yet.  A reader never waits and never sees a torn record.  One thread writes; anybody of the same user reads.
"""

from __future__ import annotations

import contextlib
import os
import re
import struct
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Self

from appliance.clock import BootInstant
from appliance.store.room import mapped

RECORD: Final = struct.Struct("<QqqqqqI")  # sequence, job, ordinal or -1, attempt, started, limit, CRC-32 of all before
COPY_BYTES: Final = 64
PAGE_BYTES: Final = 4096
NONCE: Final = re.compile(r"[0-9a-f]{8,64}")
NO_ORDINAL: Final = -1
NO_JOB: Final = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """The attempt at work: which job or part, its fence, since when, and how long it may take (0: nobody said)."""

    job_id: int
    attempt: int
    started: BootInstant
    ordinal: int | None = None
    limit_ms: int = 0


class Page:
    """The writer's side.  Create it after the fork: it belongs to one process."""

    __slots__ = ("_map", "_sequence", "path")

    def __init__(self, path: Path) -> None:
        """Make the file, which must not exist yet.  Raises ``StorageFullError`` when there is no room for it."""
        descriptor = os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            self._map = mapped(descriptor, PAGE_BYTES)
        finally:
            os.close(descriptor)
        self.path = path
        self._sequence = 0

    @classmethod
    def create(cls, folder: Path, nonce: str) -> Self:
        """The page of the process with this nonce, ``folder/nonce``."""
        return cls(_path(folder, nonce))

    def begin(self, work: Work) -> None:
        """Note what starts now."""
        ordinal = NO_ORDINAL if work.ordinal is None else work.ordinal
        self._write(work.job_id, ordinal, work.attempt, work.started.ms, work.limit_ms)

    def end(self) -> None:
        """Note that nothing is at work."""
        self._write(NO_JOB, NO_ORDINAL, 0, 0, 0)

    def close(self) -> None:
        """Let go of the page; the file stays until somebody has read it and calls ``remove``."""
        self._map.close()

    def _write(self, *fields: int) -> None:
        self._sequence += 1
        record = RECORD.pack(self._sequence, *fields, 0)[:-4]
        start = self._sequence % 2 * COPY_BYTES
        self._map[start : start + RECORD.size] = record + struct.pack("<I", zlib.crc32(record))


def read(folder: Path, nonce: str) -> Work | None:
    """What the process was doing at its last note; None for nothing, or when it has no page."""
    try:
        descriptor = os.open(_path(folder, nonce), os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    except FileNotFoundError:
        return None
    try:
        raw = os.pread(descriptor, 2 * COPY_BYTES, 0)
    finally:
        os.close(descriptor)
    return newest(raw)


def newest(raw: bytes) -> Work | None:
    """The work of the later whole copy among the two."""
    whole = [fields for start in (0, COPY_BYTES) if (fields := _copy(raw[start : start + RECORD.size])) is not None]
    if not whole:
        return None
    _, job_id, ordinal, attempt, started, limit_ms = max(whole)
    if job_id == NO_JOB:
        return None
    part = None if ordinal == NO_ORDINAL else ordinal
    return Work(job_id=job_id, attempt=attempt, started=BootInstant(started), ordinal=part, limit_ms=limit_ms)


def remove(folder: Path, nonce: str) -> None:
    """Take away the page of a dead process; one that is not there is fine."""
    with contextlib.suppress(FileNotFoundError):
        _path(folder, nonce).unlink()


def _copy(raw: bytes) -> tuple[int, int, int, int, int, int] | None:
    if len(raw) < RECORD.size:
        return None
    *fields, checksum = RECORD.unpack(raw)
    sequence, job_id, ordinal, attempt, started, limit_ms = fields
    if sequence == 0 or zlib.crc32(raw[:-4]) != checksum:
        return None
    return sequence, job_id, ordinal, attempt, started, limit_ms


def _path(folder: Path, nonce: str) -> Path:
    if not NONCE.fullmatch(nonce):
        message = f"{nonce!r} is not a nonce"
        raise ValueError(message)
    return folder / nonce
