"""A disk that refuses: an SQLite VFS whose n-th read, write, sync, truncation or look at a size raises an error.

Syncs that succeed do nothing: what these tests ask is what the store makes of an error, not what a power cut leaves.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal

import apsw

Operation = Literal["xRead", "xWrite", "xSync", "xTruncate", "xFileSize"]


@dataclass(slots=True)
class Fault:
    """Which operation refuses, by which error: the ``at``-th one, and when it is sticky all after it, until it is healed."""

    operation: Operation
    error: type[apsw.Error]
    extended: int
    at: int
    sticky: bool
    half: bool = False
    armed: bool = False
    seen: int = 0
    hits: int = 0

    def due(self, operation: Operation) -> bool:
        """Whether this operation is refused."""
        if not self.armed or operation != self.operation:
            return False
        number, self.seen = self.seen, self.seen + 1
        hit = number == self.at or (self.sticky and number > self.at)
        self.hits += hit
        return hit

    def refuse(self) -> apsw.Error:
        """The error, as the operating system's answer would be given on."""
        error = self.error(f"{self.operation} is refused")
        error.extendedresult = self.extended  # type: ignore[attr-defined]  # the engine reads it, its stubs do not know it
        return error


class FaultyFile(apsw.VFSFile):
    """A file with a fault."""

    def __init__(self, fault: Fault, name: str | apsw.URIFilename | None, flags: list[int]) -> None:
        self.fault = fault
        super().__init__("", name, flags)

    def xRead(self, amount: int, offset: int) -> bytes:  # noqa: N802 - the engine's name
        """Read, or not."""
        if self.fault.due("xRead"):
            raise self.fault.refuse()
        return super().xRead(amount, offset)

    def xWrite(self, data: bytes, offset: int) -> None:  # noqa: N802 - the engine's name
        """Write, or not, or half."""
        if self.fault.due("xWrite"):
            if self.fault.half:
                super().xWrite(bytes(data)[: len(data) // 2], offset)
            raise self.fault.refuse()
        super().xWrite(data, offset)

    def xSync(self, flags: int) -> None:  # noqa: ARG002, N802 - the engine's name and signature
        """Refuse, or say that it is done."""
        if self.fault.due("xSync"):
            raise self.fault.refuse()

    def xTruncate(self, newsize: int) -> None:  # noqa: N802 - the engine's name
        """Truncate, or not."""
        if self.fault.due("xTruncate"):
            raise self.fault.refuse()
        super().xTruncate(newsize)

    def xFileSize(self) -> int:  # noqa: N802 - the engine's name
        """Say the size, or not."""
        if self.fault.due("xFileSize"):
            raise self.fault.refuse()
        return super().xFileSize()


class Faulty(apsw.VFS):
    """The default VFS with a fault."""

    def __init__(self, name: str, fault: Fault) -> None:
        self.fault = fault
        super().__init__(name, "")

    def xOpen(self, name: str | apsw.URIFilename | None, flags: list[int]) -> FaultyFile:  # noqa: N802 - the engine's name
        """A file with a fault."""
        return FaultyFile(self.fault, name, flags)

    def excepthook(self, *_: object, **__: object) -> bool:
        """The errors are meant: they are not printed."""
        return True


@contextmanager
def faulty(name: str, fault: Fault) -> Iterator[Fault]:
    """A VFS called ``name`` for a while."""
    vfs = Faulty(name, fault)
    try:
        yield fault
    finally:
        vfs.unregister()
