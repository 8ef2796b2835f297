"""Whom the steward watches: a pidfd of every process that entered ``live.db``, whoever's child it is, and what is known of deaths.

A death shows twice: the pidfd becomes readable at once, and the supervisor's line tells the cause.  The line may be missing (the
process was nobody's child here, or the supervisor died), so a death without a line gets its cause after a short grace.
"""

from __future__ import annotations

import os
import select
import signal
from collections.abc import Mapping
from dataclasses import dataclass, field

import msgspec

from appliance import limits
from appliance.clock import BootInstant
from appliance.coordination.processes import Entered
from appliance.coordination.work import Holder
from appliance.runtime.supervision import deaths, identity
from appliance.runtime.supervision.causes import Cause
from appliance.runtime.supervision.identity import Process
from appliance.site import boot


@dataclass(frozen=True, slots=True, kw_only=True)
class Watched:
    """A living process: who it is, and the descriptor that tells of its death."""

    holder: Holder
    process: Process
    pidfd: int
    worker: bool


@dataclass(slots=True, kw_only=True)
class Watch:
    """Everybody who is watched, and the deaths that wait for their cause."""

    poll: select.poll = field(default_factory=select.poll)
    living: dict[Holder, Watched] = field(default_factory=dict)
    dying: dict[Holder, BootInstant] = field(default_factory=dict)
    told: dict[tuple[int, int], Cause] = field(default_factory=dict)
    torn: bytes = b""

    def add(self, entered: Entered, now: BootInstant) -> None:
        """Watch a process; one that is dead already counts as dying from now on."""
        if entered.holder in self.living or entered.holder in self.dying:
            return
        process = identity.parse(entered.holder)
        pidfd = None if process is None or process.boot_id != boot.boot_id() else identity.pidfd(process)
        if process is None or pidfd is None:
            self.dying[entered.holder] = now
            return
        self.living[entered.holder] = Watched(holder=entered.holder, process=process, pidfd=pidfd, worker=entered.kind == "worker")
        self.poll.register(pidfd, select.POLLIN)

    def seen(self, descriptors: set[int], now: BootInstant) -> None:
        """These descriptors are readable: those among them that are pidfds tell of a death."""
        for watched in [each for each in self.living.values() if each.pidfd in descriptors]:
            self.poll.unregister(watched.pidfd)
            os.close(watched.pidfd)
            del self.living[watched.holder]
            self.dying[watched.holder] = now

    def hear(self, descriptor: int) -> None:
        """Read what the supervisor says of deaths."""
        try:
            self.torn += os.read(descriptor, 1 << 16)
        except BlockingIOError:
            return
        *lines, self.torn = self.torn.split(b"\n")
        for line in lines:
            said = msgspec.json.decode(line, type=deaths.Line)
            self.told[said.pid, said.start_ticks] = said.cause

    def strangers(self) -> dict[tuple[int, int], Cause]:
        """Take out the deaths of those who are neither watched nor dying: (pid, start) and cause."""
        known = {
            (process.pid, process.start_ticks) for holder in (*self.living, *self.dying) if (process := identity.parse(holder))
        }
        return {key: self.told.pop(key) for key in list(self.told) if key not in known}

    def mourn(self, holder: Holder, strangers: Mapping[tuple[int, int], Cause], now: BootInstant) -> None:
        """A holder is dying after all if it is one of these strangers."""
        process = identity.parse(holder)
        if process is None or process.boot_id != boot.boot_id() or holder in self.dying:
            return
        cause = strangers.get((process.pid, process.start_ticks))
        if cause is not None:
            self.told[process.pid, process.start_ticks] = cause
            self.dying[holder] = now

    def ended(self, now: BootInstant) -> list[tuple[Holder, Cause]]:
        """The deaths whose cause is known, or will not become known any more."""
        ready = []
        for holder, since in list(self.dying.items()):
            cause = self._cause(holder, since, now)
            if cause is not None:
                del self.dying[holder]
                ready.append((holder, cause))
        return ready

    def _cause(self, holder: Holder, since: BootInstant, now: BootInstant) -> Cause | None:
        process = identity.parse(holder)
        if process is None:
            return Cause.GONE
        if process.boot_id != boot.boot_id():
            return Cause.POWER
        told = self.told.pop((process.pid, process.start_ticks), None)
        return told or (Cause.GONE if now - since >= limits.CAUSE_GRACE_MS else None)

    def wait_ms(self, now: BootInstant, ms: int) -> int:
        """How long may be waited, given the deaths that wait for their cause."""
        graces = [max(0, limits.CAUSE_GRACE_MS - (now - since)) for since in self.dying.values()]
        return min([ms, *graces])

    def send(self, holder: Holder, number: signal.Signals) -> None:
        """Signal a watched process, and no successor of its pid."""
        watched = self.living.get(holder)
        if watched is not None:
            signal.pidfd_send_signal(watched.pidfd, number)
