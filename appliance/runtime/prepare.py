"""``prepare``: everything that must be true before work starts, as a list read top to bottom, in a process of its own.

It returns the plan as data.  What makes work impossible is an error, with its exit code; a handler module that does not import
only takes its kinds out of the plan, and is a finding.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from appliance.coordination import kinds, processes, triggers
from appliance.coordination.handlers import Handler
from appliance.errors import HandlerError
from appliance.runtime import trial
from appliance.runtime.arguments import StewardArgument, StoreArgument, WorkerArgument
from appliance.runtime.kind_argument import kind_of
from appliance.runtime.loading import load, look_in
from appliance.runtime.supervision import fork, identity, program
from appliance.runtime.supervision.program import ChildPlan, Plan
from appliance.runtime.supervision.seats import Seat
from appliance.settings import Pool
from appliance.site import filesystem
from appliance.store import check, live, migrations, recovery, selftest
from appliance.store.ledger import Ledger


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What the settings want: where, which modules, which pools, and how long a stop and a pause before a restart may be."""

    store: StoreArgument
    release: str
    modules: Sequence[str]
    paths: Sequence[str]
    pools: Mapping[str, Pool]
    stop_ms: int
    restart_ms_max: int


def prepare(seat: Seat, wanted: Wanted) -> bytes:
    """Make everything ready, and return the plan."""
    place = wanted.store.place()
    warning = filesystem.require_local(place.state)
    if warning:
        seat.log.warning("filesystem", what=warning)
    prove_locks(seat, wanted)
    if not anybody_at_work(seat, place.runtime):  # a reload checks nothing: the check would pin the WAL beside the workers
        check.check_if_unclean(place)
    if recovery.recover(place, seat.clock, seat.process.start_ticks):
        seat.log.warning("storage", what="a sync had failed; the log was written again, and the storage takes writes")
    triggering = triggers.statements()
    applied = migrations.migrate(place, seat.clock, triggering, release=wanted.release)
    if applied:
        seat.log.info("migrated", migrations=applied)
    live.discard_other_boots(place.runtime, seat.process.boot_id)
    look_in(wanted.paths)
    handlers = load_all(seat, wanted.modules)
    declare(seat, wanted, [handler for _, handler in handlers])
    return program.encode(plan(wanted, handlers))


def anybody_at_work(seat: Seat, runtime: Path) -> bool:
    """Whether a process that entered lives."""
    found = live.Live(runtime, seat.process.boot_id)
    try:
        known = [identity.parse(each.holder) for each in processes.entered(found)]
    finally:
        found.close()
    return any(process is not None and identity.alive(process) for process in known)


def prove_locks(seat: Seat, wanted: Wanted) -> None:
    """Two processes prove, on a fresh file beside the ledger, that locks and shared memory work here.

    The second one is forked first and waits: nothing forks while a connection is open.
    """
    folder = wanted.store.place().state
    reader, writer = os.pipe2(os.O_CLOEXEC)

    def second() -> int:
        os.read(reader, 1)
        return selftest.probe(folder)

    selftest.lay(folder)
    pid = fork.fork(second, settle=lambda: None, keep=(reader,), log=seat.log)
    os.close(reader)
    holding = selftest.Holding(folder)
    os.write(writer, b"!")
    os.close(writer)
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    holding.close()
    selftest.remove(folder)
    selftest.judge(folder, code)


def load_all(seat: Seat, modules: Sequence[str]) -> list[tuple[str, Handler]]:
    """(module, handler) of all modules that import; the others are findings.

    All are tried before the first is loaded: it may start threads, as numpy's do, and then nothing is forked any more.
    """
    found: dict[str, tuple[str, Handler]] = {}
    for module in [module for module in modules if _comes_back(seat, module)]:
        for handler in _loaded(seat, module):
            if handler.kind in found:
                seat.log.error("kind declared twice, the first stays", kind=handler.kind, module=module)
            found.setdefault(handler.kind, (module, handler))
    return list(found.values())


def _comes_back(seat: Seat, module: str) -> bool:
    try:
        trial.require_return(module, seat.log)
    except HandlerError as error:
        _leave_out(seat, module, error)
        return False
    return True


def _loaded(seat: Seat, module: str) -> list[Handler]:
    try:
        return load(module)
    except HandlerError as error:
        _leave_out(seat, module, error)
        return []


def _leave_out(seat: Seat, module: str, error: HandlerError) -> None:
    seat.log.error("handler module left out", module=module, what=str(error), remedy=error.remedy)


def declare(seat: Seat, wanted: Wanted, handlers: Sequence[Handler]) -> None:
    """Tell the ledger which kinds there are."""
    ledger = Ledger(wanted.store.place(), seat.clock, seat.process.start_ticks)
    try:
        if kinds.undeclared(ledger, handlers):
            with ledger.write() as tx:
                kinds.declare(tx, handlers)
    finally:
        ledger.close()


def plan(wanted: Wanted, handlers: Sequence[tuple[str, Handler]]) -> Plan:
    """The children: the steward, and for each pool that has kinds its workers."""
    steward = StewardArgument(store=wanted.store, release=wanted.release)
    children = [ChildPlan(name="steward", kind="steward", argument=msgspec.to_builtins(steward))]
    for name in sorted({handler.pool for _, handler in handlers}):
        pool = wanted.pools.get(name, Pool())
        argument = WorkerArgument(
            store=wanted.store,
            release=wanted.release,
            pool=name,
            isolated=pool.isolated,
            stop_ms=wanted.stop_ms,
            paths=list(wanted.paths),
            kinds=[kind_of(module, handler, pool.memory_bytes_max) for module, handler in handlers if handler.pool == name],
        )
        told = msgspec.to_builtins(argument)
        children += [
            ChildPlan(name=f"worker-{name}-{slot + 1}", kind="worker", pool=name, argument=told) for slot in range(pool.workers)
        ]
    return Plan(children=children)
