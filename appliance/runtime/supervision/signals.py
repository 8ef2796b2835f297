"""Signals as data: the handlers do nothing, the kernel's arrival wakes a descriptor, and the loop reads which ones came."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Final

HEARD: Final = (signal.SIGCHLD, signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


@dataclass(frozen=True, slots=True)
class Signals:
    """The descriptor that wakes, and what came since it was last asked."""

    descriptor: int

    def take(self) -> list[signal.Signals]:
        """The signals that came, in their order."""
        came = b""
        with suppress(BlockingIOError):
            came = os.read(self.descriptor, 65_536)
        return [signal.Signals(number) for number in came]


@contextmanager
def heard() -> Iterator[Signals]:
    """Hear the supervisor's signals for a while; afterwards everything is as it was."""
    reader, writer = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    before = {number: signal.signal(number, lambda _number, _frame: None) for number in HEARD}
    wakeup = signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    try:
        yield Signals(reader)
    finally:
        signal.set_wakeup_fd(wakeup)
        for number, handler in before.items():
            signal.signal(number, handler)
        os.close(reader)
        os.close(writer)
