"""The log: one JSON object a line, each with time, level, event and the bound facts.

A line is written by one ``write`` call of at most ``LINE_BYTES_MAX`` bytes, so lines of several processes do not mix on a pipe
(POSIX ``PIPE_BUF`` is 4096 on Linux).  A log that cannot be written is never a reason to stop work, or to wait: a pipe whose reader
stands still has no room, and the line is dropped.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

LINE_BYTES_MAX: Final = 4096
FIELD_CHARS_MAX: Final = 2000


@dataclass(frozen=True, slots=True, kw_only=True)
class Log:
    """A writer of lines to a descriptor, with facts bound to each line.  ``wall_ms`` is the clock's."""

    wall_ms: Callable[[], int]
    descriptor: int = 2
    facts: dict[str, Any] = field(default_factory=dict)

    def bind(self, **facts: object) -> Log:
        """A log whose every line carries these facts too."""
        return Log(wall_ms=self.wall_ms, descriptor=self.descriptor, facts=self.facts | facts)

    def info(self, event: str, **facts: object) -> None:
        """Something happened as it should."""
        self._write("info", event, facts)

    def warning(self, event: str, **facts: object) -> None:
        """Something happened that the product mended or can live with."""
        self._write("warning", event, facts)

    def error(self, event: str, **facts: object) -> None:
        """Something happened that somebody should know of."""
        self._write("error", event, facts)

    def _write(self, level: str, event: str, facts: dict[str, object]) -> None:
        line = _line({"at_ms": self.wall_ms(), "level": level, "event": event} | self.facts | facts)
        if len(line) > LINE_BYTES_MAX:
            line = _line({"at_ms": self.wall_ms(), "level": level, "event": event, "cut": len(line)} | self.facts)
        with contextlib.suppress(OSError):
            if _has_room(self.descriptor):
                os.write(self.descriptor, line[:LINE_BYTES_MAX])


def _has_room(descriptor: int) -> bool:
    """Whether a line can be written without waiting: a pipe is writable when it has room for PIPE_BUF bytes (pipe(7))."""
    poll = select.poll()
    poll.register(descriptor, select.POLLOUT)
    return bool(poll.poll(0))


def _line(facts: dict[str, Any]) -> bytes:
    return (json.dumps({key: _short(value) for key, value in facts.items()}, default=repr) + "\n").encode("ascii")


def _short(value: object) -> object:
    return value[:FIELD_CHARS_MAX] if isinstance(value, str) else value
