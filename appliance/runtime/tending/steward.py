"""The steward: frees what the dead held, enforces limits, ripens what is due, empties the WAL, ends what was cancelled.

It promises
  * that the work of a dead process is free again in the transaction that follows the news, whoever told it;
  * that it acts only in its term: every transaction begins by requiring the term, so a steward that was overtaken changes nothing;
  * that an idle appliance stays idle: a beat a second in memory, no read and no write of the ledger.

The invariant: whoever holds anything in the ledger is watched, or dying, or freed.

It never runs a handler, and never judges a job by its age alone: a time limit counts only what the worker's own page says, and
not while the box is starved.
"""

from __future__ import annotations

import random
import select
import shutil
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final

import msgspec

from appliance import limits
from appliance.clock import BootInstant
from appliance.coordination import files, freeing, kinds, leases, processes, queue, splits, terms
from appliance.coordination.freeing import Death
from appliance.coordination.processes import Entered
from appliance.coordination.terms import Term
from appliance.coordination.work import Holder, Lease
from appliance.runtime.arguments import StewardArgument
from appliance.runtime.supervision import identity
from appliance.runtime.supervision.causes import Cause
from appliance.runtime.supervision.seats import Seat
from appliance.runtime.tending.sweeping import Sweep
from appliance.runtime.tending.watch import Watch, Watched
from appliance.runtime.work import page
from appliance.runtime.work.page import Work
from appliance.runtime.work.worker import FOLD_ORDINAL, PAGES, SCRATCH
from appliance.store import marker, wake
from appliance.store.ledger import Ledger, Transaction
from appliance.store.live import Live
from appliance.store.wake import Waiter

NAME: Final = "steward"
NEVER: Final = BootInstant(0)
UNCHARGED: Final = frozenset({Cause.ASKED, Cause.POWER, Cause.GONE, Cause.STORAGE, Cause.ROOM})


@dataclass(slots=True, kw_only=True)
class Steward:
    """The steward in its term."""

    seat: Seat
    ledger: Ledger
    live: Live
    term: Term
    waiter: Waiter
    sweep: Sweep
    watch: Watch = field(default_factory=Watch)
    due_ms: int | None = None
    look_due: bool = True
    asks: bool = True
    stopping: bool = False
    late: set[tuple[Holder, BootInstant]] = field(default_factory=set)
    leavers: dict[tuple[Holder, int], BootInstant] = field(default_factory=dict)
    wal: tuple[int, BootInstant] = (0, NEVER)
    crowded: bool = False
    beaten: BootInstant = NEVER
    met: BootInstant = NEVER

    @contextmanager
    def write(self) -> Iterator[Transaction]:
        """A transaction of this term."""
        with self.ledger.write() as tx:
            terms.require(tx, self.term)
            yield tx

    def serve(self) -> int:
        """Go round until asked to stop.  The supervisor asks the steward last: by then the workers are dead, and are freed."""
        self.recover()
        self.seat.ready()
        while not self._done():
            now = self.seat.clock.boot()
            ready = self._wait(now)
            if self.seat.parent in ready:
                return 0
            if self.seat.stop in ready:
                self.watch.poll.unregister(self.seat.stop)
                self.stopping = True
            self._hear(ready)
            for holder, cause in self.watch.ended(self.seat.clock.boot()):
                self.free(holder, cause)
            self.ripen()
            self.beat(planned=now)
        return self._leave()

    def _done(self) -> bool:
        """Whether a stop was asked, and what the dead held is free."""
        return self.stopping and not self.watch.dying

    def _leave(self) -> int:
        """The last one out empties the WAL, marks the stop as clean when nothing is held any more, and takes its own name away."""
        self.ledger.checkpoint()
        if not self.ledger.wal_bytes() and not leases.holders(self.ledger):
            marker.put(self.ledger.place.state)
        self.waiter.close()
        processes.leave(self.live, self.term.holder)
        return 0

    def _wait(self, now: BootInstant) -> set[int]:
        until_due = limits.BEAT_MS if self.due_ms is None else max(0, self.due_ms - self.ledger.clock.ledger().ms)
        until_beat = max(0, limits.BEAT_MS - (now - self.beaten))
        return {descriptor for descriptor, _ in self.watch.poll.poll(self.watch.wait_ms(now, min(until_due, until_beat)))}

    def _hear(self, ready: set[int]) -> None:
        self.watch.seen(ready, self.seat.clock.boot())
        if self.seat.deaths in ready:
            self._hear_deaths(self.seat.deaths)
        if self.waiter.fileno() in ready:
            self.waiter.drain()
            self.look_due = self.asks = True
            self._greet()

    def _hear_deaths(self, descriptor: int) -> None:
        """Hear of deaths; of somebody who was never seen to live, look whether he held anything."""
        self.watch.hear(descriptor)
        strangers = self.watch.strangers()
        if strangers:
            for holder in leases.holders(self.ledger):
                self.watch.mourn(holder, strangers, self.seat.clock.boot())

    def _greet(self) -> None:
        """Watch everybody who has entered."""
        for entered in processes.entered(self.live):
            self.watch.add(entered, self.seat.clock.boot())

    def recover(self) -> None:
        """At the start: watch the living, and free what all others hold."""
        self._greet()
        self._meet(self.seat.clock.boot())

    def _meet(self, now: BootInstant) -> None:
        """Watch whoever holds anything, entered or not: somebody may have removed the ``live.db`` under us, and made it anew."""
        self.met = now
        for holder in leases.holders(self.ledger):
            self.watch.add(Entered(holder=holder, kind="worker", name="", release="", started=now), now)

    def free(self, holder: Holder, cause: Cause) -> None:
        """Free what a dead process held, and what else it left."""
        process = identity.parse(holder)
        nonce = process.nonce if process else ""
        pages = self.ledger.place.runtime / PAGES
        work = page.read(pages, nonce) if nonce else None
        held = leases.held_now(self.ledger, holder)
        if held:
            lease = next((each.lease for each in held if work and _is(each.lease, work)), None)
            known = cause is Cause.ASKED or (cause is not Cause.POWER and lease is not None)
            death = Death(cause=cause, charged=cause not in UNCHARGED, lease=lease, known=known)
            waits = {kind.kind: kind.backoff_ms for kind in kinds.known(self.ledger)}
            with self.write() as tx:
                freed = freeing.free(tx, holder, death, lambda kind: waits.get(kind, 1_000), random.random())  # noqa: S311 - jitter
            self.seat.log.warning("freed the dead's work", holder=holder, cause=cause, freed=len(freed))
            if lease is not None:
                processes.forget_progress(self.live, lease)
        processes.leave(self.live, holder)
        if nonce:
            page.remove(pages, nonce)
            wake.forget(self.ledger.place.runtime, nonce)
            shutil.rmtree(self.ledger.place.state / SCRATCH / nonce, ignore_errors=True)

    def ripen(self) -> None:
        """Move what has become due, and look when the next will."""
        now_ms = self.ledger.clock.ledger().ms
        if self.due_ms is not None and self.due_ms <= now_ms:
            with self.write() as tx:
                queue.ripen(tx)
            self.look_due = True
        if self.look_due:
            self.look_due = False
            self.due_ms = queue.next_due_ms(self.ledger)

    def beat(self, planned: BootInstant) -> None:
        """Once a second: say that we live, and do what has to be done from time to time."""
        now = self.seat.clock.boot()
        if now - self.beaten < limits.BEAT_MS:
            return
        self.beaten = now
        self.seat.beat()
        if now - planned < limits.BEAT_MS + limits.STARVED_DELAY_MS:
            for watched in [each for each in self.watch.living.values() if each.worker]:
                self._judge(watched, now)
        if self.asks:
            self._stop_asked()
        self._end_leavers(now)
        self._checkpoint(now)
        worked = bool(self.wal[0])
        if worked and now - self.met >= limits.WAIT_MS_MAX:
            self._meet(now)
        self.sweep.go_on(now, worked=worked)

    def _judge(self, watched: Watched, now: BootInstant) -> None:
        """Late: its stack goes to the log.  Over its limit: it is killed, and its job counts a failure of that class."""
        work = page.read(self.ledger.place.runtime / PAGES, watched.process.nonce)
        if work is None or not work.limit_ms:
            return
        took_ms, key = now - work.started, (watched.holder, work.started)
        if took_ms >= work.limit_ms:
            self.seat.log.warning("over the time limit", job=work.job_id, took_ms=took_ms, limit_ms=work.limit_ms)
            self._kill(watched, Cause.TIME_LIMIT)
        elif took_ms >= work.limit_ms // limits.LATE_SHARE and key not in self.late:
            self.late = {each for each in self.late if each[0] != watched.holder} | {key}
            self.seat.log.warning("late", job=work.job_id, took_ms=took_ms, limit_ms=work.limit_ms)
            self.watch.send(watched.holder, signal.SIGUSR1)

    def _kill(self, watched: Watched, cause: Cause) -> None:
        """By the supervisor, so that its death has this cause; by ourselves when it is not one of its children."""
        self.watch.told[watched.process.pid, watched.process.start_ticks] = cause
        self.seat.ask_kill(watched.process.pid, watched.process.start_ticks, cause)
        self.watch.send(watched.holder, signal.SIGKILL)

    def _stop_asked(self) -> None:
        """End gathering jobs that were asked to stop, and processes that ignore the asking."""
        if splits.any_asked(self.ledger):
            with self.write() as tx:
                leavers = dict.fromkeys(splits.at_work_on_asked(tx), self.seat.clock.boot())
                stopped = splits.stop_asked(tx)
            self.leavers |= leavers
            for id_ in stopped:
                files.forget_job(self.ledger.place.state, id_)
        before = self.ledger.clock.ledger() - limits.CANCEL_GRACE_MS
        for holder in leases.ignored(self.ledger, before):
            if holder in self.watch.living:
                self._kill(self.watch.living[holder], Cause.ASKED)
        self.asks = leases.any_asked(self.ledger)

    def _end_leavers(self, now: BootInstant) -> None:
        """Nobody holds a part of a cancelled job any more; whoever still works on one, and does not listen, is ended."""
        for (holder, id_), since in list(self.leavers.items()):
            watched = self.watch.living.get(holder)
            work = None if watched is None else page.read(self.ledger.place.runtime / PAGES, watched.process.nonce)
            if watched is None or work is None or work.job_id != id_:
                del self.leavers[holder, id_]
            elif now - since >= limits.CANCEL_GRACE_MS:
                del self.leavers[holder, id_]
                self._kill(watched, Cause.ASKED)

    def _checkpoint(self, now: BootInstant) -> None:
        """Empty the WAL when it is large, or when nothing was written for a while; say when it passes its bound, up or down."""
        size, since = self.ledger.wal_bytes(), self.wal[1]
        if size != self.wal[0]:
            since = now
        self.wal = (size, since)
        if size >= limits.WAL_BYTES_CHECKPOINT or (size and now - since >= limits.QUIET_MS_CHECKPOINT):
            self.ledger.checkpoint()
        if self.crowded != (size > limits.WAL_BYTES_MAX):
            self.crowded = not self.crowded
            (self.seat.log.error if self.crowded else self.seat.log.info)("wal", bytes=size, over_its_bound=self.crowded)


def main(seat: Seat) -> int:
    """The steward's whole life: campaign, then the term."""
    argument = msgspec.convert(seat.argument, StewardArgument)
    place = argument.store.place()
    chair = terms.Seat(place.state, NAME)
    while not chair.try_take():
        seat.beat()
        if seat.wait(ms=limits.BEAT_MS):
            return 0
    holder = Holder(str(seat.process))
    live = Live(place.runtime, seat.process.boot_id)
    waiter = Waiter(place.runtime, ("born", "ask", "due"), seat.process.nonce)
    started = seat.clock.boot()
    processes.enter(live, Entered(holder=holder, kind=NAME, name=seat.name, release=argument.release, started=started))
    ledger = Ledger(place, seat.clock, seat.process.start_ticks, waiting=seat.beat)
    with ledger.write() as tx:
        term = terms.enter(tx, NAME, holder)
    sweep = Sweep(ledger=ledger, log=seat.log)
    steward = Steward(seat=seat, ledger=ledger, live=live, term=term, waiter=waiter, sweep=sweep)
    for descriptor in (seat.stop, seat.parent, seat.deaths, waiter.fileno()):
        if descriptor is not None:
            steward.watch.poll.register(descriptor, select.POLLIN)
    return steward.serve()


def _is(lease: Lease, work: Work) -> bool:
    ordinal = FOLD_ORDINAL if lease.noun == "split" else lease.ordinal
    return (lease.id, ordinal, lease.fence) == (work.job_id, work.ordinal, work.attempt)
