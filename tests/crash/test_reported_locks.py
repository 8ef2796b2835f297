"""Locks as others met them: writers beside a backup and a stalled disk, a program that does not queue, first opens at once."""

from __future__ import annotations

import json
import os
import select
import signal
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Final

import apsw
import pytest

from appliance import limits
from appliance.clock import SYSTEM
from appliance.coordination import handin, kinds, queue
from appliance.coordination.handin import Returned
from appliance.coordination.outcomes import Done
from appliance.coordination.work import Claimed, Holder, Submission
from appliance.store import live
from appliance.store.ledger import LEDGER, Ledger, Place
from appliance.store.live import Live
from appliance.store.turnstile import TurnPage
from tests.crash.appliance_stage import Appliance, appliance, settings
from tests.crash.facts import until
from tests.crash.gates import Gate
from tests.crash.test_appliance_deaths import kill
from tests.ledger.box import KINDS, found, place
from tests.ledger.forked import Child, forked
from tests.ledger.test_reported_wal import standing_reader

pytestmark = pytest.mark.crash
STALL_MS: Final = 10_000
LONGER_THAN_ANY_SILENCE_MS: Final = limits.BEAT_MISSED_MS + limits.KILL_GRACE_MS + 1_000
READS: Final = kinds.reads(KINDS)
Tell = Callable[[str], None]


class StallingFile(apsw.VFSFile):
    """A file whose every sync takes as long as the report says."""

    def __init__(self, tell: Tell, name: str | apsw.URIFilename | None, flags: list[int]) -> None:
        self.tell = tell
        super().__init__("", name, flags)

    def xSync(self, flags: int) -> None:  # noqa: N802 - the engine's name
        """Stand still, then sync."""
        self.tell("stalls")
        select.select([], [], [], STALL_MS / 1_000)
        super().xSync(flags)


class Stalling(apsw.VFS):
    """The default VFS on a disk that stalls."""

    def __init__(self, tell: Tell) -> None:
        self.tell = tell
        super().__init__("stalling", "")

    def xOpen(self, name: str | apsw.URIFilename | None, flags: list[int]) -> StallingFile:  # noqa: N802 - the engine's name
        """A file that stalls."""
        return StallingFile(self.tell, name, flags)


def stalled(where: Place) -> Callable[[Tell], None]:
    """A writer whose one commit takes ten seconds."""

    def act(tell: Tell) -> None:
        kept = Stalling(tell)
        ledger = Ledger(Place(state=where.state, runtime=where.runtime, vfs="stalling"), SYSTEM, os.getpid())
        with ledger.write() as tx:
            queue.submit(tx, [Submission(kind="noop", work_id="stalled")])
        tell("committed")
        kept.unregister()

    return act


def writer(where: Place, gate: int) -> Callable[[Tell], None]:
    """A worker that hands in, submits and claims, one commit after another, until it is told to end; then it says how that was."""

    def act(tell: Tell) -> None:
        ledger, holder = Ledger(where, SYSTEM, os.getpid()), Holder(f"boot/{os.getpid()}/1/w")
        held: list[Claimed] = []
        commits, landed, longest_ms = 0, True, 0
        while not (ended := bool(select.select([gate], [], [], 0)[0])) or held:
            began = SYSTEM.boot()
            with ledger.write() as tx:
                for each in held:
                    landed &= handin.hand_in(tx, Returned(claimed=each, outcome=Done(), started=tx.now))
                queue.submit(tx, [Submission(kind="noop", work_id=f"{holder} {commits}")])
                held = [] if ended else queue.claim(tx, READS, holder, 3)
            commits += 1
            longest_ms = max(longest_ms, SYSTEM.boot() - began)
        tell(json.dumps([commits, landed, longest_ms]))

    return act


def test_p5_a_disk_that_stalls_beside_writers_and_a_backup_costs_an_error_or_a_lease_to_nobody(tmp_path: Path) -> None:
    """Three writers wait ten seconds for a fourth, while somebody copies: each goes on, with what it held before."""
    where = place(tmp_path)
    found(where, SYSTEM).close()
    gate, key = os.pipe()
    with ExitStack() as stack:
        assert stack.enter_context(forked(standing_reader(where))).line() == "reads"
        writers: list[Child] = [stack.enter_context(forked(writer(where, gate))) for _ in range(3)]
        slow = stack.enter_context(forked(stalled(where)))
        assert slow.line() == "stalls"
        began = SYSTEM.boot()
        assert set(slow.lines()) <= {"stalls", "committed"}
        assert SYSTEM.boot() - began >= STALL_MS - 100
        os.write(key, b"end")
        told = [json.loads(child.line()) for child in writers]
        assert [os.waitpid(child.pid, 0)[1] for child in writers] == [0, 0, 0]
    assert all(landed for _, landed, _ in told)
    assert max(longest_ms for _, _, longest_ms in told) >= STALL_MS - 100
    assert max(longest_ms for _, _, longest_ms in told) < 2 * STALL_MS
    os.close(gate)
    os.close(key)
    ledger = Ledger(where, SYSTEM, 1)
    assert ledger.read("SELECT max(attempt), max(failures), sum(state = 'leased') FROM job") == [(1, 0, 0)]
    ledger.close()


def not_queuing(state: Path, for_ms: int) -> Callable[[Tell], None]:
    """A program that knows nothing of the turnstile: it holds the engine's own lock for a while, or until it is told to end."""

    def act(tell: Tell) -> None:
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])
        connection = apsw.Connection(str(state / LEDGER))
        connection.set_busy_timeout(5_000)
        connection.execute("BEGIN IMMEDIATE")
        tell("holds")
        signal.sigtimedwait([signal.SIGUSR1], for_ms / 1_000)
        connection.execute("ROLLBACK")
        connection.close()
        tell("ended")

    return act


def test_p3_an_outcome_waits_for_a_program_that_does_not_queue(tmp_path: Path) -> None:
    """It lands when the other has ended, as the same attempt.  The steward waits behind it, longer than any silence, and lives."""
    gate, other_gate = Gate(tmp_path / "gate"), Gate(tmp_path / "other")
    with appliance(tmp_path) as box:
        before = settled(box)
        (id_,) = box.submit("hold", [gate.payload()])
        (dies,) = box.submit("hold", [other_gate.payload(until=1)])
        finishes, doomed = gate.calls(1)[0].pid, other_gate.calls(1)[0].pid
        with forked(not_queuing(box.paths.state, LONGER_THAN_ANY_SILENCE_MS)) as foreign:
            assert foreign.line() == "holds"
            gate.open()
            inside(box, finishes)
            kill(doomed)
            assert foreign.line() == "ended"
        shown, again = box.ended(id_, dies)
        assert (shown.state, shown.attempt, shown.failures) == ("done", 1, 0)
        assert (again.state, again.attempt, again.failures) == ("done", 2, 1)
        assert box.moves(id_) == ["submit", "claim", "finish"]
        assert {name for name, pid in before.items() if box.pids().get(name) != pid} == {_name(before, doomed)}


def test_p5_a_steward_that_waits_inside_for_a_foreign_lock_goes_on_beating(tmp_path: Path) -> None:
    """What it has to free waits as long as the lock; it does not, by its own fault, wait for another steward as well."""
    gate = Gate(tmp_path / "gate")
    with appliance(tmp_path, settings(workers=1)) as box:
        steward = settled(box)["steward"]
        (id_,) = box.submit("hold", [gate.payload(until=1)])
        with forked(not_queuing(box.paths.state, LONGER_THAN_ANY_SILENCE_MS)) as foreign:
            assert foreign.line() == "holds"
            kill(gate.calls(1)[0].pid)
            inside(box, steward)
            assert foreign.line() == "ended"
        (shown,) = box.ended(id_)
        assert (shown.state, shown.attempt, shown.failures) == ("done", 2, 1)
        assert box.pids()["steward"] == steward


def settled(box: Appliance) -> dict[str, int]:
    """Its processes, once the workers of both pools have done something and wait for more."""
    box.ended(*box.submit("note", ["first"]), *box.submit("locked.note", ["first"]))
    return box.pids()


def inside(box: Appliance, pid: int) -> None:
    """Wait until this process holds the turn."""
    page = TurnPage(box.paths.runtime)
    until(lambda: (held := page.held()) is not None and held.pid == pid, what="the turn")
    page.close()


def _name(pids: dict[str, int], pid: int) -> str:
    return next(name for name, each in pids.items() if each == pid)


def switching(where: Place) -> Callable[[Tell], None]:
    """Somebody in the middle of making the database of the living; it goes on when it is told to."""

    def act(tell: Tell) -> None:
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])
        with live.making(where.runtime):
            connection = apsw.Connection(str(where.runtime / "live-bootboot.db"))
            connection.execute("BEGIN IMMEDIATE")
            tell("makes")
            signal.sigwait([signal.SIGUSR1])
            connection.execute("ROLLBACK")
            connection.execute("PRAGMA journal_mode = wal")
            connection.close()
        tell("made")

    return act


def test_whoever_finds_a_new_database_being_made_waits_for_it(tmp_path: Path) -> None:
    """The engine would not: it calls the file locked at once, whatever the busy time."""
    where = place(tmp_path)

    def open_it(tell: Tell) -> None:
        tell("asks")
        tell(str(len(Live(where.runtime, "bootboot").rows("SELECT * FROM process"))))

    with forked(switching(where)) as first:
        assert first.line() == "makes"
        with forked(open_it) as second:
            assert second.line() == "asks"
            assert not select.select([second.ear], [], [], 0.2)[0]
            os.kill(first.pid, signal.SIGUSR1)
            assert [first.line(), second.line()] == ["made", "0"]


def opener(where: Place, gate: int) -> Callable[[Tell], None]:
    """Somebody who opens both databases at the moment at which all do."""

    def act(tell: Tell) -> None:
        tell("there")
        os.read(gate, 1)
        known, ledger = Live(where.runtime, "bootboot"), Ledger(where, SYSTEM, os.getpid())
        with ledger.write() as tx:
            queue.submit(tx, [Submission(kind="noop", work_id=str(os.getpid()))])
        tell(str(len(known.rows("SELECT * FROM process"))))

    return act


def test_processes_that_open_new_databases_at_once_are_not_told_that_they_are_locked(tmp_path: Path) -> None:
    """The busy time stands before the first statement, and whoever asks for the WAL is the only one to do so."""
    for number in range(5):
        (tmp_path / str(number)).mkdir()
        where = place(tmp_path / str(number))
        found(where, SYSTEM).close()
        gate, key = os.pipe()
        with ExitStack() as stack:
            children = [stack.enter_context(forked(opener(where, gate))) for _ in range(6)]
            assert [child.line() for child in children] == ["there"] * 6
            os.write(key, b"g" * 6)
            assert [child.line() for child in children] == ["0"] * 6
        os.close(gate)
        os.close(key)
