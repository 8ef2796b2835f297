"""Whether silence proves anything just now: on a starved box everybody is silent, and killing makes it worse.

Its signs: our own loop woke late (then the others get a while to show life), the kernel's pressure figures, and a process that
waits for a disk which does not answer (the figures are averages of ten seconds, and say so too late), or for a lock, whose holder
is judged in its place.  A process that is held still by a signal is judged all the same, and no box is starved for ever.
"""

from __future__ import annotations

from dataclasses import dataclass

from appliance import limits
from appliance.clock import BootInstant
from appliance.log import Log
from appliance.site import boot, pressure


def patience(*, starved: bool, stopped: bool, silent_ms: int) -> bool:
    """Whether a silent process is given more time."""
    return starved and not stopped and silent_ms < limits.STARVED_MS_MAX


@dataclass(slots=True, kw_only=True)
class Starvation:
    """What the loop has noticed of it: until when everybody is spared."""

    log: Log
    until: BootInstant

    def woke(self, planned: BootInstant, now: BootInstant) -> None:
        """The loop meant to wake at one time, and woke at another."""
        if now - planned > limits.STARVED_DELAY_MS:
            self.log.warning("box is starved", late_ms=now - planned)
            self.until = now + limits.STARVED_GRACE_MS

    def spares(self, pid: int, silent_since: BootInstant, now: BootInstant) -> bool:
        """Whether this process is not judged now, though it has been silent for too long."""
        found = boot.stat(pid)
        waits = boot.waits_for_disk(pid) or boot.waits_for_lock(pid)
        starved = waits or now < self.until or pressure.read().starved
        return patience(starved=starved, stopped=found is not None and found.stopped, silent_ms=now - silent_since)
