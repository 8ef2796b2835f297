"""A day of an appliance in a few hundred commits: every kind of transaction that the queue knows, by the queue's own code.

After each transaction the workload keeps the digest of the whole ledger, so that a ledger found after a crash can be told: this
is the state after commit k, nothing more, nothing less.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import apsw

from appliance.coordination import decisions, freeing, queue, terms
from appliance.coordination.handin import Released, Returned, hand_in
from appliance.coordination.outcomes import Done, Folded, Follow, Outcome, Redo, Reject, Retry, Snooze, Split, Unclear
from appliance.coordination.splits import Step
from appliance.coordination.work import Claimed, FilePlace, Submission
from appliance.store.ledger import Ledger, Transaction
from tests.crash.powercut_vfs import Note
from tests.ledger.box import ANNA, BERT, Box, Dial

TABLES = ("ledger", "job", "result", "split", "part", "file", "event", "term", "kind", "edge", "past")


def snapshot(connection: apsw.Connection) -> str:
    """The digest of all that a ledger says."""
    whole = hashlib.blake2b(digest_size=16)
    for table in TABLES:
        whole.update(repr(connection.execute(f"SELECT * FROM {table} ORDER BY 1, 2, 3").fetchall()).encode())  # noqa: S608 - table names above
    return whole.hexdigest()


@dataclass(slots=True)
class Workload:
    """Seeded choices over two open ledgers of one place, as two processes would have them."""

    ledgers: tuple[Ledger, ...]
    dial: Dial
    chance: random.Random
    told: Callable[[Note, int], None]
    states: dict[str, tuple[int, int]] = field(default_factory=dict)
    held: list[Claimed] = field(default_factory=list)
    old: list[Claimed] = field(default_factory=list)
    commits: int = 0
    acknowledged: int = 0

    @contextmanager
    def commit(self) -> Iterator[Transaction]:
        """One transaction of one of the processes, with its place in the order of commits."""
        self.dial.pass_ms(self.chance.choice([0, 1, 40, 400]))
        with self.chance.choice(self.ledgers).write() as tx:
            yield tx
            self.commits += 1
            self._keep(snapshot(tx.connection))
            self.told("begin", self.commits)
        self.acknowledged = self.commits
        self.told("ack", self.commits)

    def _keep(self, state: str) -> None:
        """The first and the last commit after which the ledger was so; a commit may change nothing, no state comes back later."""
        first, last = self.states.get(state, (self.commits, self.commits - 1))
        assert last == self.commits - 1
        self.states[state] = (first, self.commits)

    def act(self) -> None:
        """One step: a transaction, or a checkpoint."""
        weights = {self.submit: 4, self.claim: 4, self.outcome: 9, self.late: 1, self.decide: 1, self.free: 1, self.checkpoint: 1}
        self.chance.choices(list(weights), list(weights.values()))[0]()

    def submit(self) -> None:
        """A few at once, large and small, now and later, some to be split."""
        asked = [
            Submission(
                kind=self.chance.choice(["noop", "film"]),
                payload=self.chance.randbytes(self.chance.choice([10, 300, 4_000])).hex(),
                after_ms=self.chance.choice([0, 0, 50]),
                priority=self.chance.choice([-1, 0, 1]),
            )
            for _ in range(self.chance.choice([1, 1, 4]))
        ]
        with self.commit() as tx:
            queue.submit(tx, asked)

    def claim(self) -> None:
        """Ripen, then take what is ready."""
        with self.commit() as tx:
            queue.ripen(tx)
            self.held += queue.claim(tx, Box(self.ledgers[0], self.dial).reads, self.chance.choice([ANNA, BERT]), 3)

    def outcome(self) -> None:
        """Hand in what is held, a batch in one transaction."""
        batch, self.held = self.held[:2], self.held[2:]
        if not batch:
            return
        with self.commit() as tx:
            for claimed in batch:
                files, outcome = self._worked(claimed)
                hand_in(tx, Returned(claimed=claimed, outcome=outcome, files=files, chance=self.chance.random()))
        self.old += batch

    def late(self) -> None:
        """The same hand-in again: it changes nothing, and is history."""
        if self.old:
            with self.commit() as tx:
                hand_in(tx, Returned(claimed=self.chance.choice(self.old), outcome=Done("late")))

    def decide(self) -> None:
        """A person cancels the newest job."""
        ((newest,),) = self.ledgers[0].read("SELECT coalesce(max(id), 0) FROM job WHERE state IN ('ready', 'planned', 'unclear')")
        if newest:
            with self.commit() as tx:
                decisions.cancel(tx, newest, decisions.Person(who="p", why="w"))

    def free(self) -> None:
        """A holder died, the next steward enters and frees its work."""
        holder = self.chance.choice([ANNA, BERT])
        with self.commit() as tx:
            terms.enter(tx, "steward", holder)
            going_on = self.held[0].lease if self.held else None
            freeing.free(tx, holder, freeing.Death(cause="killed", charged=True, lease=going_on), lambda _: 100, 0.5)

    def checkpoint(self) -> None:
        """The steward empties the WAL."""
        self.chance.choice(self.ledgers).checkpoint()

    def _worked(self, claimed: Claimed) -> tuple[tuple[FilePlace, ...], Outcome | Step | Released]:
        """What a handler made of it."""
        if claimed.folding:
            return (), self._folded(claimed)
        if claimed.lease.noun == "part":
            lease, name = claimed.lease, self.chance.randbytes(4).hex()
            file = FilePlace(
                id=lease.id,
                attempt=lease.attempt,
                ordinal=lease.ordinal or 0,
                part_attempt=lease.fence,
                name=name,
                size_bytes=3,
                sha256="0" * 64,
            )
            ends: list[Outcome | Released] = [Done(name * 20), Retry("again"), Released(cause="stop", started=True)]
            end = self.chance.choices(ends, [8, 1, 1])[0]
            return (file,), end
        if claimed.kind == "film" and self.chance.random() < 0.7:
            return (), Split(count=5, window=2, state=[], on_dead="fold")
        then = [Follow(kind="noop")]
        outcomes: list[Outcome] = [Done("x" * 500), Done(1, then), Retry("again"), Snooze(40), Reject("bad"), Unclear("eh?")]
        return (), self.chance.choice(outcomes)

    def _folded(self, claimed: Claimed) -> Step | Released:
        fold = claimed.folding
        assert fold
        if not fold.answers and fold.folded < fold.parts:
            return Released(cause="nothing to fold", started=False)
        if fold.answers and not fold.answers[0].dead and self.chance.random() < 0.15:
            first = fold.answers[0]
            redo = (first.ordinal, first.attempt, Redo({"more": 1}))
            return Step(folded=fold.folded, carried=fold.carried, output_bytes=fold.output_bytes, redo=redo)
        folded = fold.folded + len(fold.answers)
        end = Done("folded") if folded == fold.parts else Folded(None)
        return Step(folded=folded, carried=["c" * 100], output_bytes=folded * 10, end=end)
