"""The desk of a worker: the one thread of it that owns the ledger's connection.

It hands in what the main thread has finished together with the claim of the next batch: one commit a batch.

It promises
  * that a finished job waits for its commit at most as long as its batch, or ``limits.BATCH_JOB_MS_MAX`` beside a long one: then
    what is finished is handed in and what was not begun goes back;
  * that a free worker begins new work as soon as a writer's wake-up arrives; nothing polls;
  * that a stop is bounded: what was not begun goes back at once, what goes on may finish until the bound, and is then handed back.

Invariant: everything this process holds in the ledger is in the batch, or on its way into it.  When a commit raises, nobody
knows what it holds, so the process ends, and the steward frees whatever it turns out to be.
"""

from __future__ import annotations

import json
import os
import select
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from appliance import errors, limits
from appliance.clock import BootInstant, Clock
from appliance.coordination import files, handin, leases, queue
from appliance.coordination.handin import Released, Returned
from appliance.coordination.outcomes import Retry
from appliance.coordination.splits import Step
from appliance.coordination.work import Claimed, Holder
from appliance.log import Log
from appliance.runtime.supervision.seats import Seat
from appliance.runtime.work import sizing
from appliance.runtime.work.batch import Batch, Standing
from appliance.store.engine import REFUSED
from appliance.store.ledger import Ledger, Transaction
from appliance.store.wake import Waiter

UNKEEPABLE: Final = (errors.PayloadError, errors.UnknownKindError, TypeError, ValueError, OverflowError, REFUSED)  # before a COMMIT


@dataclass(slots=True, kw_only=True)
class Desk:
    """The desk and what it knows.  ``triples`` says what this worker reads of each of its kinds."""

    ledger: Ledger
    seat: Seat
    batch: Batch
    waiter: Waiter
    holder: Holder
    kinds: tuple[str, ...]
    triples: Mapping[str, tuple[str, int, int]]
    stop_ms: int
    means_ms: dict[str, float] = field(default_factory=dict)
    commit_ms: float = 1.0
    stop_until: BootInstant | None = None
    look: bool = True

    @property
    def clock(self) -> Clock:
        """The ledger's clock."""
        return self.ledger.clock

    @property
    def log(self) -> Log:
        """The worker's log."""
        return self.seat.log

    def _reads(self, of: Iterable[str]) -> str:
        return json.dumps([self.triples[kind] for kind in of])

    def serve(self) -> None:
        """Go round until the worker has stopped."""
        while True:
            standing = self.batch.standing()
            if self.stop_until is not None:
                if standing.since is None or self.clock.boot() >= self.stop_until:
                    self._hand_back_all()
                    return
            elif standing.hungry and (self.look or queue.waits(self.ledger, self._reads(self.kinds))):
                self.exchange(self.batch.collect(), (), claim=True)
                continue
            elif self._late(standing):
                self._go_slow()
                continue
            self._wait(standing)

    def _wait(self, standing: Standing) -> None:
        poll = select.poll()
        watched = [self.batch.kick, self.waiter.fileno()]
        if self.stop_until is None:
            watched += [self.seat.stop, self.seat.parent]
        for descriptor in watched:
            poll.register(descriptor, select.POLLIN)
        ready = {descriptor for descriptor, _ in poll.poll(self._patience_ms(standing))}
        if self.batch.kick in ready:
            os.eventfd_read(self.batch.kick)
            self.look = True
        if self.waiter.fileno() in ready:
            self.waiter.drain()
            self._hear_asked()
        if ready & {self.seat.stop, self.seat.parent}:
            self._stop()

    def _patience_ms(self, standing: Standing) -> int:
        now = self.clock.boot()
        if self.stop_until is not None:
            return max(0, self.stop_until - now)
        if standing.beside:  # also before the main thread has taken the first of a batch: it does not tell when it does
            return max(0, limits.BATCH_JOB_MS_MAX - (0 if standing.since is None else now - standing.since))
        due_ms = queue.next_due_ms(self.ledger) if standing.hungry else None
        until_due = limits.WAIT_MS_MAX if due_ms is None else max(0, due_ms - self.clock.ledger().ms)
        return min(limits.WAIT_MS_MAX, until_due)

    def _late(self, standing: Standing) -> bool:
        """Whether the job at work keeps others waiting too long."""
        return standing.since is not None and standing.beside and self.clock.boot() - standing.since >= limits.BATCH_JOB_MS_MAX

    def _go_slow(self) -> None:
        """Hand in what is finished beside a long job, give back what was not begun, and batch its kind no more."""
        current = self.batch.current()
        if current is not None:
            self.means_ms[current.kind] = max(self.means_ms.get(current.kind, 0.0), float(limits.BATCH_JOB_MS_MAX))
        withdrawn = tuple(self.batch.withdraw())
        self.exchange(self.batch.collect(), withdrawn, claim=False)

    def _hear_asked(self) -> None:
        """Look whether somebody asked to cancel what is in hand, be it begun or not."""
        if not self.batch.standing().hungry:
            current = self.batch.current()
            self.batch.cancel(leases.asked_now(self.ledger, self.holder, None if current is None else current.lease))

    def _stop(self) -> None:
        """Begin the stop: nothing new, what was not begun goes back."""
        self.stop_until = self.clock.boot() + self.stop_ms
        withdrawn = tuple(self.batch.withdraw())
        self.batch.end()
        self.exchange(self.batch.collect(), withdrawn, claim=False)

    def _hand_back_all(self) -> None:
        """The end of the stop: hand in what came to an outcome, hand back what did not."""
        returned, current = self.batch.close()
        if current is not None:
            returned.append(Returned(claimed=current, outcome=Released(cause="stopped", started=False)))
        self.exchange(returned, (), claim=False)

    def exchange(self, finished: list[Returned], withdrawn: tuple[Claimed, ...], *, claim: bool) -> None:
        """One transaction: outcomes in, the next batch out."""
        back = [Returned(claimed=each, outcome=Released(cause="not begun", started=False)) for each in withdrawn]
        if not finished and not back and not claim:
            return
        self.look = False
        began = self.clock.boot()
        landed: list[Returned] = []
        claims = self._transact([*finished, *back], landed, claim=claim)
        self.commit_ms = sizing.smoothed(self.commit_ms, self.clock.boot() - began)
        for each in landed:
            self._tidy(each)
        known = {id(each) for each in landed}
        for each in [each for each in finished if id(each) not in known]:
            self._undo(each)
        if claims:
            self.batch.load(claims)

    def _transact(self, returned: list[Returned], landed: list[Returned], *, claim: bool) -> list[Claimed]:
        try:
            with self.ledger.write() as tx:
                kept = handin.hand_in_all(tx, returned)
                claims = self._claim(tx) if claim else []
        except UNKEEPABLE:
            if not returned:  # then it was the claim, and asking again would go round for ever
                raise
            return self._one_by_one(returned, landed)
        landed.extend(kept)
        return claims

    def _one_by_one(self, returned: list[Returned], landed: list[Returned]) -> list[Claimed]:
        """An outcome of the batch cannot be committed: find it, and let it count as its own job's failure."""
        for each in returned:
            try:
                with self.ledger.write() as tx:
                    kept = handin.hand_in(tx, each)
            except UNKEEPABLE as error:
                instead = replace(each, outcome=Retry(str(error), error_class=f"outcome.{type(error).__name__}"), files=())
                with self.ledger.write() as tx:
                    handin.hand_in(tx, instead)
            else:
                landed.extend([each] if kept else [])
        self.look = True
        return []

    def _claim(self, tx: Transaction) -> list[Claimed]:
        """The next batch: one job, and as many more as are short."""
        queue.ripen(tx)
        short = sizing.short_kinds(self.means_ms)
        if short.issuperset(self.kinds):
            return queue.claim(tx, self._reads(self.kinds), self.holder, self._most(short))
        first = queue.claim(tx, self._reads(self.kinds), self.holder, 1)
        if first and first[0].kind in short and (more := self._most(short) - 1):
            return first + queue.claim(tx, self._reads(short), self.holder, more)
        return first

    def _most(self, short: frozenset[str]) -> int:
        return sizing.batch_most(max(self.means_ms[kind] for kind in short if kind in self.means_ms), self.commit_ms)

    def _undo(self, each: Returned) -> None:
        """After a commit in which an outcome did not land: its files, which carry its fence, so that nobody else has them."""
        lease = each.claimed.lease
        self.log.warning("not landed", job=lease.id, ordinal=lease.ordinal, attempt=lease.attempt, fence=lease.fence)
        files.forget(self.ledger.place.state, lease, each.files, lease.fence if lease.noun == "split" else None)

    def _tidy(self, each: Returned) -> None:
        """After the commit: the files that it made superfluous."""
        folding, outcome = each.claimed.folding, each.outcome
        if folding is None or not isinstance(outcome, Step):
            return
        again = outcome.redo[0] if outcome.redo else -1
        gone = [place for place in each.claimed.files if 0 <= place.ordinal < outcome.folded or place.ordinal == again >= 0]
        files.forget(self.ledger.place.state, each.claimed.lease, gone, folding.output_fence or None)
