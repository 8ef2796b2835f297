"""The supervisor's own memory of deaths: one JSON line each in a bounded file, since it has no database.

A line is appended when a child dies, and at no other time.  A torn last line (power, a full disk) is skipped by the reader and
makes the next death rewrite the file.  A rewrite replaces it whole or not at all; the folder is not synced, as an older history is
harmless.  The file outlives the supervisor, so one that crashes again and again keeps its back-off.
"""

from __future__ import annotations

import contextlib
import os
from collections import deque
from pathlib import Path
from typing import Final

import msgspec

from appliance import limits
from appliance.clock import BootInstant
from appliance.runtime.supervision.causes import Cause
from appliance.runtime.supervision.identity import Process
from appliance.runtime.supervision.policy import Death, Degrade, Restart

NEW: Final = ".new"


class Line(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=False):
    """One death as it is written down, and as the steward is told of it.  Times are milliseconds of the boot clock."""

    boot_id: str
    name: str
    sort: str
    pid: int
    start_ticks: int
    cause: Cause
    code: int
    at_boot_ms: int
    lived_ms: int
    after_ms: int
    degraded: bool = False

    def death(self) -> Death:
        """The part that the policy looks at."""
        return Death(name=self.name, sort=self.sort, cause=self.cause, at=BootInstant(self.at_boot_ms), lived_ms=self.lived_ms)


def line(dead: Death, process: Process, code: int, what: Restart | Degrade) -> Line:
    """The line of a death, and of what follows from it."""
    return Line(
        boot_id=process.boot_id,
        name=dead.name,
        sort=dead.sort,
        pid=process.pid,
        start_ticks=process.start_ticks,
        cause=dead.cause,
        code=code,
        at_boot_ms=dead.at.ms,
        lived_ms=dead.lived_ms,
        after_ms=what.after_ms,
        degraded=isinstance(what, Degrade),
    )


def encode(death: Line) -> bytes:
    """The line with its end."""
    return msgspec.json.encode(death) + b"\n"


def decode(raw: bytes) -> list[Line]:
    """The lines that are whole; whatever is not one is skipped."""
    found = []
    for text in raw.split(b"\n"):
        with contextlib.suppress(msgspec.MsgspecError):
            found.append(msgspec.json.decode(text, type=Line))
    return found


class History:
    """The last deaths, in memory and in the file."""

    __slots__ = ("_in_file", "_path", "_torn", "lines")

    def __init__(self, path: Path) -> None:
        """Read what an earlier supervisor left; a file that is not there or cannot be read is an empty history."""
        raw, whole = _end_of(path)
        found = decode(raw)
        self.lines = deque(found, maxlen=limits.DEATHS_KEPT)
        self._path = path
        self._in_file = len(found)
        self._torn = not whole

    def of_boot(self, boot_id: str) -> list[Death]:
        """The deaths of this boot, oldest first; the times of others cannot be compared with it."""
        return [line.death() for line in self.lines if line.boot_id == boot_id]

    def last(self, boot_id: str, most: int) -> list[Line]:
        """The last deaths of this boot, oldest first: what a new steward is told."""
        return [line for line in self.lines if line.boot_id == boot_id][-most:]

    def record(self, death: Line) -> None:
        """Remember one more death, and write it down.

        Raises ``OSError`` when the disk refuses; it is remembered all the same.
        """
        self.lines.append(death)
        if self._torn or self._in_file >= 2 * limits.DEATHS_KEPT:
            _replace(self._path, b"".join(encode(each) for each in self.lines))
            self._torn, self._in_file = False, len(self.lines)
        else:
            self._torn = True
            _append(self._path, encode(death))
            self._torn, self._in_file = False, self._in_file + 1


def _end_of(path: Path) -> tuple[bytes, bool]:
    """The last bytes of the file, as many as can matter, and whether the file is as we leave it."""
    try:
        with path.open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(size - limits.DEATHS_BYTES_MAX, 0))
            raw = file.read(limits.DEATHS_BYTES_MAX)
    except OSError:
        return b"", True
    return raw, size <= limits.DEATHS_BYTES_MAX and (raw.endswith(b"\n") or not raw)


def _append(path: Path, raw: bytes) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        _write(descriptor, raw)
    finally:
        os.close(descriptor)


def _replace(path: Path, raw: bytes) -> None:
    new = path.with_name(path.name + NEW)
    descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        _write(descriptor, raw)
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    new.replace(path)


def _write(descriptor: int, raw: bytes) -> None:
    while raw:
        raw = raw[os.write(descriptor, raw) :]
