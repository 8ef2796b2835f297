"""A worker: one slot of a pool.  Two threads: the main one does the work, the desk owns the ledger.

The main thread notes on the shared page what it begins, so that after a kill only that job is charged.  The process ends in one
place, the end of the desk: by then everything it held is handed in or handed back, or nobody can say and the steward frees it.
"""

from __future__ import annotations

import os
import threading
import traceback
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import msgspec

from appliance.clock import BootInstant
from appliance.coordination import processes
from appliance.coordination.processes import Entered
from appliance.coordination.work import Claimed, Holder, Lease
from appliance.errors import ApplianceError
from appliance.runtime.arguments import WorkerArgument
from appliance.runtime.call import Perform, in_place
from appliance.runtime.kind_argument import KindArgument
from appliance.runtime.loading import load_all, look_in
from appliance.runtime.supervision.seats import Seat
from appliance.runtime.work import isolated, perform, sizing
from appliance.runtime.work.batch import Batch
from appliance.runtime.work.desk import Desk
from appliance.runtime.work.page import Page, Work
from appliance.runtime.work.perform import Bench
from appliance.store.ledger import Ledger
from appliance.store.live import Live
from appliance.store.wake import Waiter, Waker

PAGES: Final = "pages"
SCRATCH: Final = "scratch"
FOLD_ORDINAL: Final = -2  # how the page names a fold
PROGRESS_MS: Final = 500
INTERNAL: Final = 70


@dataclass(slots=True, kw_only=True)
class Worker:
    """What the two threads of a worker share: the batch, and how long the kinds take (written by one, read by the other)."""

    seat: Seat
    argument: WorkerArgument
    batch: Batch
    means_ms: dict[str, float] = field(default_factory=dict)

    def serve_desk(self) -> None:
        """The desk thread.  The process ends with it, however it ends."""
        code = INTERNAL
        try:
            self._desk().serve()
            code = 0
        except ApplianceError as error:
            code = error.exit_code
            self.seat.log.error("worker cannot go on", error=type(error).__name__, what=str(error), remedy=error.remedy)
        except Exception as error:  # noqa: BLE001 - the thread's main: it records, and the process ends
            self.seat.log.error("worker crashed", error=type(error).__name__, trace=traceback.format_exc()[-1500:])
        finally:
            os._exit(code)

    def _desk(self) -> Desk:
        place, process = self.argument.store.place(), self.seat.process
        ledger = Ledger(place, self.seat.clock, process.start_ticks)
        self.batch.clock = ledger.clock
        desk = Desk(
            ledger=ledger,
            seat=self.seat,
            batch=self.batch,
            waiter=Waiter(place.runtime, ("work", "ask"), process.nonce),
            holder=Holder(str(process)),
            kinds=tuple(kind.kind for kind in self.argument.kinds),
            triples={kind.kind: (kind.kind, kind.version, kind.schema) for kind in self.argument.kinds},
            stop_ms=self.argument.stop_ms,
            means_ms=self.means_ms,
        )
        self.seat.ready()
        return desk

    def work(self, carry_out: Perform) -> None:
        """The main thread: take, do, give, until there is no more."""
        place = self.argument.store.place()
        page = Page.create(_made(place.runtime / PAGES), self.seat.process.nonce)
        live = Live(place.runtime, self.seat.process.boot_id)
        self._enter(live, place.runtime)
        kinds = {kind.kind: kind for kind in self.argument.kinds}
        progress = Progress(live=live, seat=self.seat)
        bench = Bench(
            state=place.state,
            scratch=_made(place.state / SCRATCH / self.seat.process.nonce),
            perform=carry_out,
            cancelled=self.batch.cancelled,
            progress=progress,
        )
        while (claimed := self.batch.take()) is not None:
            self._do(bench, page, claimed, kinds[claimed.kind])
            progress.end(claimed.lease)

    def _do(self, bench: Bench, page: Page, claimed: Claimed, kind: KindArgument) -> None:
        began = self.seat.clock.boot()
        page.begin(_work(claimed.lease, began, kind.time_limit_ms + (isolated.GRACE_MS if self.argument.isolated else 0)))
        returned = perform.do(bench, claimed, kind, self.batch.clock.ledger())
        page.end()
        took_ms = self.seat.clock.boot() - began
        self.means_ms[kind.kind] = sizing.smoothed(self.means_ms.get(kind.kind), took_ms)
        self.batch.give(returned)

    def _enter(self, live: Live, runtime: Path) -> None:
        process = Entered(
            holder=Holder(str(self.seat.process)),
            kind="worker",
            name=self.seat.name,
            release=self.argument.release,
            started=self.seat.clock.boot(),
        )
        processes.enter(live, process)
        waker = Waker(runtime)
        waker.wake({"born"})
        waker.close()


@dataclass(slots=True, kw_only=True)
class Progress:
    """Notes progress in ``live.db``, at most every ``PROGRESS_MS``, and forgets it with the end of the work."""

    live: Live
    seat: Seat
    noted: BootInstant | None = None
    told: bool = False

    def __call__(self, lease: Lease, done: int, total: int) -> None:
        """Note how far a lease's work has come."""
        now = self.seat.clock.boot()
        if self.noted is None or now - self.noted >= PROGRESS_MS or done >= total:
            self.noted, self.told = now, True
            processes.note_progress(self.live, lease, done, total, now)

    def end(self, lease: Lease) -> None:
        """The work of a lease has ended; what told of no progress left no note."""
        if self.told:
            self.told = False
            processes.forget_progress(self.live, lease)


def main(seat: Seat) -> int:
    """The worker's whole life; it ends with the desk."""
    argument = msgspec.convert(seat.argument, WorkerArgument)
    look_in(argument.paths)
    carry_out = performer(seat, argument)
    worker = Worker(seat=seat, argument=argument, batch=Batch(seat.clock))
    desk = threading.Thread(target=worker.serve_desk, name="desk", daemon=True)
    desk.start()
    worker.work(carry_out)
    desk.join()
    return INTERNAL  # never reached: the desk ends the process


def performer(seat: Seat, argument: WorkerArgument) -> Perform:
    """What carries calls out for this pool."""
    if argument.isolated:
        return isolated.in_hand(seat, argument)
    return in_place(load_all(sorted({kind.module for kind in argument.kinds})))


def _work(lease: Lease, began: BootInstant, limit_ms: int) -> Work:
    ordinal = FOLD_ORDINAL if lease.noun == "split" else lease.ordinal
    return Work(job_id=lease.id, attempt=lease.fence, ordinal=ordinal, started=began, limit_ms=limit_ms)


def _made(folder: Path) -> Path:
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder
