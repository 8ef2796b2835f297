"""Files by which a test and the vendor's handlers talk: a fifo that holds them, and a log of the calls that began."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

from appliance.coordination.outcomes import Json
from tests.crash.facts import until


class Began(NamedTuple):
    """A call of a handler that began."""

    job: int
    ordinal: int
    attempt: int
    pid: int
    boot_ms: int


class Gate:
    """The fifo and the log of one test; a folder may hold several by name."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(exist_ok=True)
        self.path, self.log = folder / "gate", folder / "began"
        os.mkfifo(self.path)

    def payload(self, **more: Json) -> dict[str, Json]:
        """What a handler is to be told."""
        return {"gate": str(self.path), "log": str(self.log), **more}

    def open(self) -> None:
        """Let all pass, now and later."""
        descriptor = os.open(self.path, os.O_RDWR)
        free = self.path.with_name("open")
        free.touch()
        free.replace(self.path)
        os.close(descriptor)

    def began(self) -> list[Began]:
        """The calls that began, in order."""
        lines = self.log.read_text().splitlines() if self.log.exists() else []
        return [Began(*map(int, line.split())) for line in lines]

    def calls(self, count: int, *, seconds: float = 20.0) -> list[Began]:
        """All calls, once there are so many."""
        until(lambda: len(self.began()) >= count, seconds=seconds, what=f"call {count}")
        return self.began()
