"""The child's side of supervision: who it is, whether it should stop, and the line on which it is heard.

``stop`` is readable once the child was asked to end: the C part of Python's signal handling writes to it, whatever the
interpreter is busy with.  ``parent`` is readable once the supervisor is gone.  ``deaths`` carries one JSON line for each death.
All are descriptors, so a child waits for them beside its own work, in one place.
"""

from __future__ import annotations

import contextlib
import faulthandler
import os
import select
import signal
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from appliance.clock import Clock
from appliance.log import Log
from appliance.runtime.supervision.causes import Cause
from appliance.runtime.supervision.identity import Process


class Kill(msgspec.Struct, frozen=True, kw_only=True):
    """A child that shall be killed, and why."""

    pid: int
    start_ticks: int
    cause: Cause


class Said(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One line from a child to the supervisor."""

    ready: bool = False
    beat: bool = False
    kill: Kill | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Seat:
    """Where a child sits: given to its ``main``."""

    name: str
    kind: str
    argument: Mapping[str, Any]
    process: Process
    clock: Clock
    log: Log
    stop: int
    parent: int
    line: int
    deaths: int | None = None

    def stopping(self) -> bool:
        """Whether the child was asked to end, or the supervisor is gone."""
        return bool(self.wait(ms=0))

    def wait(self, *others: int, ms: int) -> list[int]:
        """The descriptors that are readable, waiting so long for one of these, or for ``stop`` or ``parent``."""
        waiter = select.poll()
        for descriptor in (self.stop, self.parent, *others):
            waiter.register(descriptor, select.POLLIN)
        return [descriptor for descriptor, _ in waiter.poll(ms)]

    def ready(self) -> None:
        """Tell the supervisor that the child is at work."""
        self._say(Said(ready=True))

    def beat(self) -> None:
        """Tell the supervisor that the child is alive; the first beat also says that it is ready."""
        self._say(Said(beat=True))

    def ask_kill(self, pid: int, start_ticks: int, cause: Cause) -> None:
        """Ask the supervisor to kill a child for this cause, which its death will then have."""
        self._say(Said(kill=Kill(pid=pid, start_ticks=start_ticks, cause=cause)))

    def _say(self, said: Said) -> None:
        with contextlib.suppress(BlockingIOError, BrokenPipeError):  # a supervisor that does not listen is no reason to wait
            os.write(self.line, msgspec.json.encode(said) + b"\n")


def listen(stop_writer: int, log: Log) -> None:
    """Install a child's signals: TERM makes ``stop`` readable, USR1 dumps all stacks; the terminal's keys are the supervisor's."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    signal.set_wakeup_fd(stop_writer, warn_on_full_buffer=False)
    signal.signal(signal.SIGTERM, lambda _number, _frame: _wake(stop_writer))
    faulthandler.register(signal.SIGUSR1, file=log.descriptor, all_threads=True, chain=False)
    faulthandler.enable(file=log.descriptor, all_threads=True)


def _wake(stop_writer: int) -> None:
    """Say it again in Python, as an event loop in the child may have taken the wake-up descriptor for its own."""
    with contextlib.suppress(BlockingIOError):
        os.write(stop_writer, b"\0")
