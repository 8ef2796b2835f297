"""Processes that work on the real queue are killed at any instruction: what they were told stays true, and their work goes on.

Each worker is a forked process that submits, claims and hands in, and tells on a pipe what the ledger acknowledged.  It is killed
at a random moment; then a survivor frees what it held, and all that was told is compared with the ledger.
"""

from __future__ import annotations

import os
import random
import select
import signal
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import pytest

from appliance.clock import SYSTEM
from appliance.coordination import freeing, kinds, leases, queue
from appliance.coordination.freeing import Death
from appliance.coordination.handin import Returned, hand_in
from appliance.coordination.outcomes import Done, Follow, Outcome, Split
from appliance.coordination.splits import Step
from appliance.coordination.work import Claimed, Holder, Submission
from appliance.store.ledger import Ledger, Place, Transaction
from tests.ledger.box import KINDS, found, place
from tests.ledger.forked import Child, forked

pytestmark = pytest.mark.crash

Tell = Callable[[str], None]
PARTS = 4
BROKEN = {
    "a job has one event for each of its moves": """SELECT id FROM job WHERE moves <>
        (SELECT count(*) FROM event WHERE job_id = job.id AND noun = 'job' AND move <> 'late')""",
    "a done job, and no other, has its one result": """SELECT id FROM job
        WHERE (state = 'done') <> (SELECT count(*) = 1 FROM result WHERE job_id = job.id AND attempt = job.attempt)""",
    "a claim has a fence of its own": """SELECT job_id FROM event WHERE noun = 'job' AND move = 'claim'
        GROUP BY job_id, attempt HAVING count(*) > 1""",
    "a done parent has its follow-up": """SELECT id FROM job WHERE kind = 'noop' AND parent_id IS NULL AND state = 'done'
        AND NOT EXISTS (SELECT 1 FROM job AS next WHERE next.work_id = 'then:' || job.id || ':0')""",
    "a part stands only in a gathering": """SELECT part.job_id FROM part LEFT JOIN job ON job.id = part.job_id
        WHERE job.state IS NOT 'gathering' OR job.attempt <> part.job_attempt""",
}


def worked(claimed: Claimed) -> Outcome | Step:
    """What the handlers of this test make of it: a film is split and adds up its parts' numbers, the rest is done."""
    fold = claimed.folding
    if fold:
        folded = fold.folded + len(fold.answers)
        carried = sum(int(str(number)) for number in (fold.carried, *[each.result for each in fold.answers]))
        return Step(folded=folded, carried=carried, output_bytes=0, end=Done(carried) if folded == fold.parts else None)
    if claimed.lease.noun == "part":
        return Done(claimed.lease.ordinal)
    if claimed.kind == "film":
        return Split(count=PARTS, window=2, state=0)
    return Done("x", [Follow(kind="once")] if claimed.kind == "noop" else [])


def cycle(tx: Transaction, held: list[Claimed], holder: Holder, name: str) -> list[Claimed]:
    """One commit of a worker: outcomes in, new work in, the next batch out."""
    for claimed in held:
        hand_in(tx, Returned(claimed=claimed, outcome=worked(claimed)))
    queue.submit(tx, [Submission(kind=kind, work_id=name) for kind in ("noop", "film")])
    return queue.claim(tx, kinds.reads(KINDS), holder, 3)


def worker(where: Place, holder: Holder) -> Callable[[Tell], None]:
    """A worker without an end; after each commit it tells what was acknowledged."""

    def act(tell: Tell) -> None:
        ledger, held, number = Ledger(where, SYSTEM, os.getpid()), list[Claimed](), 0
        while True:
            number += 1
            with ledger.write() as tx:
                ended, held = held, cycle(tx, held, holder, f"{holder} {number}")
            done = [str(each.lease.id) for each in ended if each.lease.noun == "job" and each.kind != "film"]
            tell(f"{holder} {number}|{','.join(done)}")

    return act


def survive(ledger: Ledger, holder: Holder) -> int:
    """What the steward does for a dead holder; how much it freed."""
    with ledger.write() as tx:
        freed = freeing.free(tx, holder, Death(cause="killed", charged=False, lease=None, known=False), lambda _: 0, 0.5)
        assert leases.held(tx, holder) == []
    return len(freed)


def kept(ledger: Ledger, told: list[str]) -> None:
    """Everything that was told is there; nothing is half there."""
    for line in told:
        named, _, done = line.partition("|")
        assert ledger.read("SELECT count(*) FROM job WHERE work_id = ?", (named,)) == [(2,)]
        for id_ in done.split(",") if done else ():
            assert ledger.read("SELECT state FROM job WHERE id = ?", (int(id_),)) == [("done",)]
    for rule, query in BROKEN.items():
        assert ledger.read(query) == [], rule
    assert ledger.read("PRAGMA integrity_check") == [("ok",)]


def heard(children: list[Child], chance: random.Random) -> list[str]:
    """What the children told until all of them are at work; then a moment more, so that the kill falls anywhere in a commit."""
    told = [child.line() for child in children for _ in range(chance.randint(1, 3))]
    assert all(told)
    select.select([], [], [], chance.random() / 100)
    return told


@pytest.mark.parametrize("seed", range(10))
def test_p1_p2_p3_a_kill_at_any_instruction_loses_nothing_that_was_told(tmp_path: Path, seed: int) -> None:
    """Two workers at once, one or both killed; the survivor frees and finishes all, each job once."""
    chance, where = random.Random(seed), place(tmp_path)
    found(where, SYSTEM).close()
    told: list[str] = []
    for life in range(3):
        holders = [Holder(f"boot/{seed}/{life}/{name}") for name in ("anna", "bert")]
        with ExitStack() as stack:
            children = [stack.enter_context(forked(worker(where, holder))) for holder in holders]
            told += heard(children, chance)
            for child in chance.sample(children, 2):
                child.kill()
            told += [line for child in children for line in child.lines()]
        ledger = Ledger(where, SYSTEM, 1)
        for holder in holders:
            survive(ledger, holder)
            assert survive(ledger, holder) == 0
        kept(ledger, told)
        ledger.close()
    finish(where, told)


def finish(where: Place, told: list[str]) -> None:
    """One survivor works until nothing is left; then every job is done, once, and the splits came to their sums."""
    ledger, held = Ledger(where, SYSTEM, 1), list[Claimed]()
    while True:
        with ledger.write() as tx:
            for claimed in held:
                assert hand_in(tx, Returned(claimed=claimed, outcome=worked(claimed)))
            held = queue.claim(tx, kinds.reads(KINDS), Holder("boot/1/1/last"), 50)
        if not held:
            break
    kept(ledger, told)
    assert ledger.read("SELECT DISTINCT state FROM job") == [("done",)]
    sums = ledger.read("SELECT DISTINCT value FROM result JOIN job ON job.id = result.job_id WHERE job.kind = 'film'")
    assert sums == [(str(sum(range(PARTS))),)]
    ledger.close()


def test_p3_a_process_that_was_taken_for_dead_and_goes_on_changes_nothing(tmp_path: Path) -> None:
    """It is stopped with a batch in its hands, its work is done by another, then it goes on and hands in."""
    where = place(tmp_path)
    found(where, SYSTEM).close()
    slow = Holder("boot/1/1/slow")

    def act(tell: Tell) -> None:
        ledger = Ledger(where, SYSTEM, 1)
        with ledger.write() as tx:
            queue.submit(tx, [Submission(kind="once", work_id=str(n)) for n in range(3)])
            held = queue.claim(tx, kinds.reads(KINDS), slow, 3)
        tell("holds")
        os.kill(os.getpid(), signal.SIGSTOP)
        with ledger.write() as tx:
            landed = [hand_in(tx, Returned(claimed=each, outcome=Done("late", [Follow(kind="noop")]))) for each in held]
        tell(str(landed))

    with forked(act) as child:
        assert child.line() == "holds"
        os.waitpid(child.pid, os.WUNTRACED)
        ledger = Ledger(where, SYSTEM, 2)
        assert survive(ledger, slow) == 3
        with ledger.write() as tx:
            for claimed in queue.claim(tx, kinds.reads(KINDS), Holder("boot/2/2/next"), 9):
                hand_in(tx, Returned(claimed=claimed, outcome=Done("right")))
        os.kill(child.pid, signal.SIGCONT)
        assert child.line() == "[False, False, False]"
        assert ledger.read("SELECT DISTINCT value FROM result") == [('"right"',)]
        assert ledger.read("SELECT count(*) FROM job") == [(3,)]
        assert ledger.read("SELECT count(*) FROM event WHERE move = 'late'") == [(3,)]
        ledger.close()
