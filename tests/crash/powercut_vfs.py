"""A disk that remembers: an SQLite VFS that records every write, and a model of what a power cut leaves of them.

The store runs on ``Recorder``, which does everything that the real VFS does and adds each write, truncation, sync and deletion to
a trace, between the notes of the workload ("commit k begins", "k is acknowledged").  ``Disk`` replays a trace.  What was synced
is there.  What was not is, write by write, there, missing or torn, as a policy says: a cache writes in any order.  On media
without powersafe overwrite (flash) a torn sector is rubbish, its neighbours' bytes included.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, NamedTuple

import apsw

SECTOR = 512
PAGE = 4096
Policy = Literal["drop", "keep", "mix"]
Note = Literal["begin", "ack"]


class Op(NamedTuple):
    """One thing that happened to the disk, or a note of the workload (``begin`` and ``ack``, with ``at`` the commit)."""

    what: Literal["create", "write", "truncate", "sync", "lose", "delete", "begin", "ack"]
    key: str = ""
    at: int = 0
    data: bytes = b""


@dataclass(slots=True)
class Trace:
    """Everything in order.  The sync that ``refuse`` counts down to is refused: the kernel loses what was in flight."""

    ops: list[Op] = field(default_factory=list)
    refuse: int = -1

    def refuses(self) -> bool:
        """Whether the sync that is asked for now is the one."""
        self.refuse -= 1
        return self.refuse == -1

    def note(self, what: Note, commit: int) -> None:
        """What the workload knows at this point."""
        self.ops.append(Op(what, at=commit))


class RecorderFile(apsw.VFSFile):
    """One open file; a temporary one without a name is not recorded, it does not outlive its connection."""

    def __init__(self, trace: Trace, name: str | apsw.URIFilename | None, flags: list[int]) -> None:
        path = name.filename() if isinstance(name, apsw.URIFilename) else name
        self.trace, self.key = trace, Path(path).name if path else ""
        super().__init__("", name, flags)
        if self.key and flags[0] & apsw.SQLITE_OPEN_CREATE:
            trace.ops.append(Op("create", self.key))

    def xWrite(self, data: bytes, offset: int) -> None:  # noqa: N802 - the engine's name
        """Write, then remember."""
        super().xWrite(data, offset)
        if self.key:
            self.trace.ops.append(Op("write", self.key, offset, bytes(data)))

    def xTruncate(self, newsize: int) -> None:  # noqa: N802 - the engine's name
        """Truncate, then remember."""
        super().xTruncate(newsize)
        if self.key:
            self.trace.ops.append(Op("truncate", self.key, newsize))

    def xSync(self, flags: int) -> None:  # noqa: N802 - the engine's name
        """Sync, then remember; or refuse, once."""
        if self.trace.refuse >= 0 and self.trace.refuses():
            self.trace.ops.append(Op("lose", self.key))
            error = apsw.IOError("the sync is refused")
            error.extendedresult = apsw.SQLITE_IOERR_FSYNC  # type: ignore[attr-defined]  # the engine reads it
            raise error
        super().xSync(flags)
        if self.key:
            self.trace.ops.append(Op("sync", self.key))


class Recorder(apsw.VFS):
    """The default VFS, recorded."""

    def __init__(self, name: str, trace: Trace) -> None:
        self.trace = trace
        super().__init__(name, "")

    def xOpen(self, name: str | apsw.URIFilename | None, flags: list[int]) -> RecorderFile:  # noqa: N802 - the engine's name
        """A recorded file."""
        return RecorderFile(self.trace, name, flags)

    def excepthook(self, *_: object, **__: object) -> bool:
        """A sync that is refused is meant: it is not printed."""
        return True

    def xDelete(self, filename: str, syncdir: bool) -> None:  # noqa: FBT001, N802 - the engine's name and signature
        """Delete, then remember."""
        super().xDelete(filename, syncdir)
        self.trace.ops.append(Op("delete", Path(filename).name))


@contextmanager
def recorded(name: str) -> Iterator[Trace]:
    """A VFS called ``name`` for a while, and its trace."""
    trace = Trace()
    recorder = Recorder(name, trace)
    try:
        yield trace
    finally:
        recorder.unregister()


@dataclass(slots=True)
class Disk:
    """What is surely on the platter, and what is still in flight, by file."""

    garbles: bool
    safe: dict[str, bytearray] = field(default_factory=dict)
    flight: dict[str, list[Op]] = field(default_factory=dict)
    named: set[str] = field(default_factory=set)
    cache: dict[str, bytearray] | None = None

    def apply(self, op: Op) -> bool:
        """Replay one operation; whether it was one of the disk's."""
        match op.what:
            case "begin" | "ack":
                return False
            case "lose":
                self.flight.pop(op.key, None)
            case "delete":
                for known in (self.safe, self.flight):
                    known.pop(op.key, None)
                self.named.discard(op.key)
            case "sync":
                for each in self.flight.pop(op.key, []):
                    _put(self.safe.setdefault(op.key, bytearray()), each)
                self.named.add(op.key)  # SQLite syncs the folder with the first sync of a file that it made
            case _:
                self.safe.setdefault(op.key, bytearray())
                if op.what != "create":
                    self.flight.setdefault(op.key, []).append(self._dirtied(op))
        return True

    def _dirtied(self, op: Op) -> Op:
        """What goes to the platter for a write where the kernel's cache is part of the model: whole pages, as it has them."""
        if self.cache is None:
            return op
        content = self.cache.setdefault(op.key, bytearray())
        _put(content, op)
        if op.what == "truncate":
            return op
        low, high = op.at // PAGE * PAGE, -(-(op.at + len(op.data)) // PAGE) * PAGE
        return Op("write", op.key, low, bytes(content[low:high]))

    def image(self, policy: Policy, chance: random.Random) -> dict[str, bytes]:
        """The files as they may be found after the power comes back."""
        found = {}
        for key, safe in self.safe.items():
            if key not in self.named and policy != "keep" and chance.random() < 0.5:  # its folder was not synced yet
                continue
            content = bytearray(safe)
            if policy != "drop":
                for op in self.flight.get(key, ()):
                    self._land(content, op, 0.0 if policy == "keep" else chance.random(), chance)
            found[key] = bytes(content)
        return found

    def _land(self, content: bytearray, op: Op, fate: float, chance: random.Random) -> None:
        """An unsynced write: under 0.4 it is there, under 0.7 torn, else missing."""
        if fate < 0.4:
            _put(content, op)
        elif fate < 0.7 and op.what == "write":
            _tear(content, op, chance, garbles=self.garbles)


def _put(content: bytearray, op: Op) -> None:
    if op.what == "truncate":
        del content[op.at :]
        content.extend(bytes(op.at - len(content)))
        return
    content.extend(bytes(max(0, op.at - len(content))))
    content[op.at : op.at + len(op.data)] = op.data


def _tear(content: bytearray, op: Op, chance: random.Random, *, garbles: bool) -> None:
    """A write caught half way: each of its sectors arrived, did not, or became rubbish."""
    end = op.at + len(op.data)
    for start in range(op.at // SECTOR * SECTOR, end, SECTOR):
        low, high = max(op.at, start), min(end, start + SECTOR)
        fate = chance.random()
        if fate < 0.5:
            _put(content, Op("write", op.key, low, op.data[low - op.at : high - op.at]))
        elif garbles and fate < 0.7:
            _put(content, Op("write", op.key, start, chance.randbytes(min(SECTOR, max(len(content), high) - start))))
