"""Removing the files that no row names: a little at a time, as there may be many, and anew after an hour in which work was done."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from appliance import limits
from appliance.clock import BootInstant
from appliance.coordination import files, splits
from appliance.log import Log
from appliance.store.ledger import Ledger


@dataclass(slots=True, kw_only=True)
class Sweep:
    """A sweep that goes on from beat to beat; ``last`` is the end of the one before, None before the first."""

    ledger: Ledger
    log: Log
    going: Iterator[int] | None = None
    last: BootInstant | None = None
    removed: int = 0

    def go_on(self, now: BootInstant, *, worked: bool) -> None:
        """Spend up to ``limits.SWEEP_MS_MAX`` on it; ``worked`` says whether anything was written of late."""
        if self.going is None:
            if self.last is not None and not (worked and now - self.last >= limits.SWEEP_MS_EVERY):
                return
            self.going = files.sweep(self.ledger.place.state, self._named)
        for removed in self.going:
            self.removed += removed
            if self.ledger.clock.boot() - now >= limits.SWEEP_MS_MAX:
                return
        if self.removed:
            self.log.info("swept files", removed=self.removed)
        self.going, self.last, self.removed = None, now, 0

    def _named(self, id_: int, attempt: int) -> set[str] | None:
        """The names of the files of an attempt, None for one at work."""
        return splits.named_files(self.ledger, id_, attempt)
