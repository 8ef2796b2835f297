"""All verbs, by several holders in any order, against a small model: what others would find in a year, in a minute.

After each step the ledger's jobs and leases are those of the model, and every law of ``ledger_laws`` holds.
"""

from __future__ import annotations

import shutil
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

import apsw
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from appliance import errors
from appliance.coordination import decisions, freeing, leases, queue, splits
from appliance.coordination.freeing import Death
from appliance.coordination.handin import Released
from appliance.coordination.outcomes import Done, Outcome, Retry, Split
from appliance.coordination.splits import Step
from appliance.coordination.states import Actor, State
from appliance.coordination.work import Claimed, Holder, JobId, Lease
from tests.ledger.box import KINDS, WHO, Box, Dial, found, place
from tests.property.ledger_laws import LAWS
from tests.property.ledger_model import Job, Model
from tests.property.ledger_sayings import OUTCOMES, VERBS, decided, files_of, folded

HOLDERS = [Holder(f"boot/{pid}/1/h") for pid in (1, 2, 3)]
FAILURES = {handler.kind: handler.failures_max for handler in KINDS}
TABLES = ("job", "result", "part", "split", "file", "edge")
WAYS = st.sampled_from(["step", "step", "step", "redo", "retry", "give up", "release"])
ENDED = {"done", "cancelled", "dead", "rejected"}
LIVE_MOST = 6
PICK = st.integers(min_value=0, max_value=1 << 16)


class LedgerMachine(RuleBasedStateMachine):
    """The ledger beside its model."""

    @initialize()
    def begin(self) -> None:
        """A fresh ledger; what a power cut leaves is asked elsewhere, so commits are not synced here."""
        self.folder = Path(tempfile.mkdtemp(prefix="machine-"))
        self.model, dial = Model(), Dial()
        self.box = Box(found(place(self.folder, synchronous="normal"), dial.clock()), dial)
        for kind in ("film", "noop", "film"):
            self.submit_new(kind, "abc", again=True, after=0)

    def teardown(self) -> None:
        """Take the folder away."""
        self.box.ledger.close()
        shutil.rmtree(self.folder)

    def know(self) -> None:
        """Take new jobs (submitted, and follow-ups) into the model."""
        for id_, kind, state in self.box.ledger.read("SELECT id, kind, state FROM job WHERE moves = 1"):
            self.model.jobs.setdefault(id_, Job(state, FAILURES[kind]))

    def all_rows(self) -> list[list[tuple[Any, ...]]]:
        """Everything but history."""
        return [self.box.ledger.read(f"SELECT * FROM {table} ORDER BY 1, 2") for table in TABLES]  # noqa: S608 - named above

    @precondition(lambda self: len(self.live()) < LIVE_MOST)
    @rule(
        kind=st.sampled_from(["noop", "film", "once"]),
        work=st.sampled_from("abc"),
        again=st.booleans(),
        after=st.sampled_from([0, 40]),
    )
    def submit(self, kind: str, work: str, again: bool, after: int) -> None:  # noqa: FBT001 - drawn
        """Work comes in."""
        self.submit_new(kind, work, again=again, after=after)

    def live(self) -> list[int]:
        """The jobs that have not come to an end."""
        return [id_ for id_, job in self.model.jobs.items() if job.state not in ENDED]

    def submit_new(self, kind: str, work: str, *, again: bool, after: int) -> None:
        """Known work is answered by the job that stands for it."""
        known = self.box.ledger.read("SELECT 1 FROM job WHERE kind = ? AND work_id = ?", (kind, work))
        answer = self.box.submit(kind, work_id=work, again=again, after_ms=after)
        assert answer.new == (again or not known)
        self.know()
        assert answer.state == self.model.jobs[answer.id].state

    @rule(ms=st.sampled_from([1, 30, 5_000]))
    def pass_time(self, ms: int) -> None:
        """Time goes on, and what is due ripens."""
        self.box.dial.pass_ms(ms)
        due = self.box.ledger.read(
            "SELECT id FROM job WHERE state = 'planned' AND due_ms <= ?", (self.box.ledger.clock.ledger().ms,)
        )
        with self.box.ledger.write() as tx:
            queue.ripen(tx)
        for (id_,) in due:
            self.model.jobs[id_].state = self.model.jobs[id_].may_start("ready")

    @rule(holder=st.sampled_from(HOLDERS), most=st.integers(1, 4))
    def claim(self, holder: Holder, most: int) -> None:
        """Take the next work."""
        got = self.box.claim(holder, most)
        assert len(got) <= most
        for each in got:
            self.model.claimed(each, holder)

    @rule(holder=st.sampled_from(HOLDERS), most=st.integers(1, 4), well=st.booleans())
    def work(self, holder: Holder, most: int, well: bool) -> None:  # noqa: FBT001 - drawn
        """All goes well for a while, or nothing does; then splits are of the kind that a dead part buries."""
        for _ in range(1 if well else 3):
            self.claim(holder, most)
            for claimed in [each for each in self.model.hands if self.model.held.get(each.lease) == holder]:
                said: Outcome = Done("x") if well else Retry("no", after_ms=0)
                if claimed.lease.noun == "job" and claimed.kind == "film":
                    said = Split(count=4, window=2, state=[], on_dead="fold" if well else "bury")
                self.land(claimed, said, "step" if well else "retry")

    @precondition(lambda self: self.model.held)
    @rule(pick=PICK, outcome=st.sampled_from(OUTCOMES), way=WAYS)
    def hand_in(self, pick: int, outcome: Outcome | Released, way: str) -> None:
        """An outcome of what somebody holds."""
        mine = [each for each in self.model.hands if each.lease in self.model.held]
        self.land(mine[pick % len(mine)], outcome, way)

    @precondition(lambda self: self.model.hands)
    @rule(pick=PICK, outcome=st.sampled_from(OUTCOMES), way=WAYS)
    def hand_in_again(self, pick: int, outcome: Outcome | Released, way: str) -> None:
        """An outcome of anything that was ever claimed, by whoever thinks that it still has it."""
        self.land(self.model.hands[-1 - pick % min(len(self.model.hands), 12)], outcome, way)

    def land(self, claimed: Claimed, outcome: Outcome | Released, way: str) -> None:
        """A valid lease lands, any other changes nothing but history."""
        lease, valid = claimed.lease, claimed.lease in self.model.held
        said: Outcome | Step | Released = folded(claimed, way) if claimed.folding else outcome
        rows, last = self.all_rows(), self.box.one("SELECT max(seq) FROM event")
        assert self.box.hand_in(claimed, said, files_of(claimed, said)) == valid
        if valid:
            del self.model.held[lease]
            if lease.noun == "job":
                self.model.landed(lease, said)
            self.know()
            self.settle(lease.id)
        else:
            assert self.all_rows() == rows
            assert self.box.ledger.read("SELECT move FROM event WHERE seq > ?", (last,)) == [("late",)]

    def settle(self, id_: int) -> None:
        """A part or a fold may have ended its job's gathering: by which moves that may be, the state table says."""
        job = self.model.jobs[id_]
        state, failures = self.box.job(JobId(id_), "state, failures")
        if job.state == "gathering" and state != "gathering":
            assert state in {"done", "ready", "planned", "dead", "rejected", "unclear", "cancelled"}
            assert failures == job.failures + (state in {"ready", "planned", "dead"})
            job.state, job.failures = state, failures
        if job.state != "gathering":
            self.model.drop_gathering(id_)

    @precondition(lambda self: any(lease.noun == "job" for lease in self.model.held))
    @rule(pick=PICK, dies=st.booleans())
    def ask(self, pick: int, dies: bool) -> None:  # noqa: FBT001 - drawn
        """Somebody asks to cancel what is at work, and its holder may die before it hears of it."""
        asked = [(lease, holder) for lease, holder in self.model.held.items() if lease.noun == "job"]
        lease, holder = asked[pick % len(asked)]
        with self.box.ledger.write() as tx:
            assert decisions.cancel(tx, lease.id, WHO) == "asked"
        self.model.jobs[lease.id].asked = True
        if dies:
            self.die(holder, pick, charged=True, known=True)

    @precondition(lambda self: self.model.held)
    @rule(holder=st.sampled_from(HOLDERS), pick=PICK, charged=st.booleans(), known=st.booleans())
    def die(self, holder: Holder, pick: int, charged: bool, known: bool) -> None:  # noqa: FBT001 - drawn
        """A holder dies over any of its work, or none; the steward frees all of it, at once and once."""
        mine = [lease for lease, whose in self.model.held.items() if whose == holder]
        lease = mine[pick % len(mine)] if mine and known else None
        with self.box.ledger.write() as tx:
            freed = freeing.free(tx, holder, Death(cause="killed", charged=charged, lease=lease, known=known), lambda _: 0, 0.5)
        assert set(freed) == set(mine)
        for each in mine:
            self.model.held.pop(each, None)
            self.freed(each.noun, each.id)
        with self.box.ledger.write() as tx:
            assert freeing.free(tx, holder, Death(cause="killed", charged=False, lease=None), lambda _: 0, 0.5) == []
        if known:
            self.haunt(mine)

    def haunt(self, mine: list[Lease]) -> None:
        """It was not dead: others have its work by now, and it hands all of it in."""
        self.claim(HOLDERS[0], 4)
        for claimed in [each for each in self.model.hands if each.lease in mine]:
            self.land(claimed, Done("late"), "step")

    def freed(self, noun: str, id_: int) -> None:
        """Where a freed job may stand."""
        job = self.model.jobs[id_]
        if noun == "job":
            state, failures = self.box.job(JobId(id_), "state, failures")
            assert state in ({"cancelled"} if job.asked else {"ready", "blocked", "planned", "dead", "unclear"})
            assert failures - job.failures in {0, 1}
            job.state, job.failures = state, failures
        self.settle(id_)

    @precondition(lambda self: self.model.jobs)
    @rule(pick=PICK, verb=st.sampled_from(sorted(VERBS)))
    def decide(self, pick: int, verb: str) -> None:
        """A person decides about any job: it leads on from one state, and is refused from every other."""
        id_ = JobId(sorted(self.model.jobs)[pick % len(self.model.jobs)])
        job, rows = self.model.jobs[id_], self.all_rows()
        became = decided(job, verb)
        try:
            with self.box.ledger.write() as tx:
                VERBS[verb](tx, id_)
        except errors.MoveRefusedError:
            assert became is None
            assert self.all_rows() == rows
            return
        assert became is not None
        job.asked = became == job.state and verb == "cancel"
        job.failures = 0 if verb in {"correct", "revive"} else job.failures
        job.state = became

    @rule()
    def stop_asked(self) -> None:
        """The steward ends gatherings that somebody asked to cancel."""
        asked = {id_ for id_, job in self.model.jobs.items() if job.asked and job.state == "gathering"}
        with self.box.ledger.write() as tx:
            assert set(splits.stop_asked(tx)) == asked
        for id_ in asked:
            self.model.jobs[id_].state = "cancelled"
            self.model.drop_gathering(id_)

    @precondition(lambda self: any(job.state in {"planned", "leased"} for job in self.model.jobs.values()))
    @rule(pick=PICK)
    def need(self, pick: int) -> None:
        """A job that is not ready gets a prerequisite."""
        ids = [id_ for id_, job in self.model.jobs.items() if job.state in {"planned", "leased"}]
        id_ = ids[pick % len(ids)]
        self.model.jobs[id_].open_edges = 1
        self.box.type("INSERT OR REPLACE INTO edge (job_id, needs_id, when_dead) VALUES (?, 999999, 'block')", id_)

    @rule(pick=PICK)
    def meet(self, pick: int) -> None:
        """The prerequisite of a job is done; it is unblocked if it was blocked."""
        ids = [id_ for id_, job in self.model.jobs.items() if job.open_edges]
        for id_ in ids[pick % len(ids) :][:1] if ids else ():
            job = self.model.jobs[id_]
            unblock = {"id": id_, "actor": Actor.STEWARD, "now": 0}
            with self.box.ledger.write() as tx:
                assert tx.row(queue.SQL["unblock"], unblock) is None
                tx.rows("UPDATE edge SET met = 1 WHERE job_id = ?", (id_,))
                assert bool(tx.row(queue.SQL["unblock"], unblock)) == (job.state == "blocked")
            job.open_edges, job.state = 0, "ready" if job.state == "blocked" else job.state

    @precondition(lambda self: self.model.jobs)
    @rule(
        pick=PICK,
        state=st.sampled_from(list(State)),
        column=st.sampled_from(["attempt", "failures", "starts", "holder", "moves", "state"]),
    )
    def type(self, pick: int, state: State, column: str) -> None:
        """Somebody types an update that is no move: it is refused, or changes nothing."""
        id_, rows = sorted(self.model.jobs)[pick % len(self.model.jobs)], self.all_rows()
        values: dict[str, Any] = {"state": state, "holder": "me"}
        with suppress(apsw.ConstraintError):
            self.box.type(f"UPDATE job SET {column} = ? WHERE id = ?", values.get(column, pick % 5), id_)  # noqa: S608 - as drawn
        assert self.all_rows() == rows

    @invariant()
    def the_ledger_is_as_the_model_has_it(self) -> None:
        """States, failures and holders, to the last row."""
        if not hasattr(self, "box"):
            return
        jobs = self.box.ledger.read("SELECT id, state, failures FROM job")
        assert jobs == [(id_, job.state, job.failures) for id_, job in sorted(self.model.jobs.items())]
        held = [(each.lease, whose) for whose in HOLDERS for each in leases.held_now(self.box.ledger, whose)]
        assert len(held) == len(self.model.held)
        assert dict(held) == self.model.held

    @invariant()
    def every_law_holds(self) -> None:
        """Each of them, after each step."""
        if hasattr(self, "box"):
            for law, query in LAWS.items():
                assert self.box.ledger.read(query) == [], law


TestLedgerMachine = LedgerMachine.TestCase
TestLedgerMachine.settings = settings(
    max_examples=150,
    stateful_step_count=40,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
