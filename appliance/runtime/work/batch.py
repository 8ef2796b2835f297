"""What a worker has in its hands: claimed and not begun, at work, finished and not handed in.

The one place that the worker's two threads share.  The main thread takes and gives; the desk thread loads, collects and
withdraws.  Nobody holds the lock while working, writing or waiting for anything else.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass

from appliance.clock import BootInstant, Clock
from appliance.coordination.handin import Returned
from appliance.coordination.work import Claimed, Lease


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """How the batch stands: is the main thread waiting, since when is a job at work, and is anything beside it."""

    hungry: bool
    since: BootInstant | None
    beside: bool


class Batch:
    """Work in hand.

    ``kick`` becomes readable when the desk has something to do; ``clock`` is the ledger's, once the desk knows it.
    """

    def __init__(self, clock: Clock) -> None:
        """An empty batch."""
        self.kick = os.eventfd(0, os.EFD_CLOEXEC | os.EFD_NONBLOCK)
        self.clock = clock
        self._changed = threading.Condition()
        self._waiting: deque[Claimed] = deque()
        self._finished: list[Returned] = []
        self._current: Claimed | None = None
        self._since: BootInstant | None = None
        self._hungry = False
        self._ended = False
        self._late = False
        self._cancelled: set[tuple[int, int]] = set()

    def take(self) -> Claimed | None:
        """The next piece of work, waiting for it; None at the end.  The main thread's."""
        with self._changed:
            self._current = self._since = None
            while not self._waiting and not self._ended:
                if not self._hungry:
                    self._hungry = True
                    os.eventfd_write(self.kick, 1)
                self._changed.wait()
            if not self._waiting:
                return None
            self._current = self._waiting.popleft()
            self._since = self.clock.boot()
            return self._current

    def give(self, returned: Returned) -> None:
        """An outcome to hand in.  The main thread's."""
        with self._changed:
            self._finished.append(returned)
            self._current = self._since = None
            if self._late:
                self._late = False
                os.eventfd_write(self.kick, 1)

    def cancelled(self, lease: Lease) -> bool:
        """Whether somebody asked to cancel this work."""
        return (lease.id, lease.attempt) in self._cancelled

    def load(self, claims: Iterable[Claimed]) -> None:
        """Put claimed work in.  The desk's."""
        with self._changed:
            self._waiting.extend(claims)
            if self._waiting:
                self._hungry = False
            self._changed.notify()

    def collect(self) -> list[Returned]:
        """Take out what is finished.  The desk's."""
        with self._changed:
            finished, self._finished = self._finished, []
            return finished

    def close(self) -> tuple[list[Returned], Claimed | None]:
        """Take out what is finished, and see what goes on, in one look: no work is both.  The desk's, at the end."""
        with self._changed:
            finished, self._finished = self._finished, []
            return finished, self._current

    def withdraw(self) -> list[Claimed]:
        """Take out what was not begun; the desk is told when the job at work is finished.  The desk's."""
        with self._changed:
            waiting = list(self._waiting)
            self._waiting.clear()
            self._late = self._current is not None
            return waiting

    def current(self) -> Claimed | None:
        """The work that goes on."""
        return self._current

    def cancel(self, keys: set[tuple[int, int]]) -> None:
        """The (job, attempt) pairs that somebody asked to cancel."""
        self._cancelled = keys

    def end(self) -> None:
        """No more work: ``take`` gives None once nothing waits."""
        with self._changed:
            self._ended = True
            self._changed.notify()

    def standing(self) -> Standing:
        """How it stands now."""
        with self._changed:
            return Standing(hungry=self._hungry, since=self._since, beside=bool(self._waiting or self._finished))
