"""A small model of the ledger: who holds what, by which fence, and what each piece of work may become."""

from __future__ import annotations

from dataclasses import dataclass, field

from appliance.coordination.handin import Released
from appliance.coordination.outcomes import Done, Outcome, Reject, Retry, Snooze, Split, Unclear
from appliance.coordination.splits import Step
from appliance.coordination.work import Claimed, Holder, Lease

LEADS_TO = {Done: "done", Split: "gathering", Snooze: "planned", Reject: "rejected", Unclear: "unclear"}
Key = tuple[str, int, int, int | None]


def key(lease: Lease) -> Key:
    """What a lease is about, without its fence; a job's attempts are one thing, a split's are its own."""
    return (lease.noun, lease.id, 0 if lease.noun == "job" else lease.attempt, lease.ordinal)


@dataclass(slots=True)
class Job:
    """A job as it should stand."""

    state: str
    failures_max: int
    failures: int = 0
    asked: bool = False
    open_edges: int = 0

    def may_start(self, state: str) -> str:
        """Where an entry to ready leads."""
        return "blocked" if state == "ready" and self.open_edges else state


@dataclass(slots=True)
class Model:
    """All jobs, all valid leases, and the highest fence of everything that was ever claimed."""

    jobs: dict[int, Job] = field(default_factory=dict)
    held: dict[Lease, Holder] = field(default_factory=dict)
    fences: dict[Key, int] = field(default_factory=dict)
    hands: list[Claimed] = field(default_factory=list)

    def claimed(self, each: Claimed, holder: Holder) -> None:
        """Somebody has it now: nobody else may have had it, and its fence is higher than any before."""
        place = key(each.lease)
        assert all(key(lease) != place for lease in self.held), "two holders"
        assert each.lease.fence > self.fences.get(place, 0), "the fence fell"
        self.fences[place] = each.lease.fence
        self.held[each.lease] = holder
        self.hands.append(each)
        if each.lease.noun == "job":
            job = self.jobs[each.lease.id]
            assert job.state == "ready"
            job.state = "leased"

    def drop_gathering(self, id_: int) -> None:
        """The gathering ended: nobody holds a part or the fold of it any more."""
        self.held = {lease: holder for lease, holder in self.held.items() if lease.id != id_ or lease.noun == "job"}

    def landed(self, lease: Lease, outcome: Outcome | Step | Released) -> None:
        """A job's outcome was taken: where it leads."""
        job = self.jobs[lease.id]
        if job.asked and not isinstance(outcome, Done):
            job.state = "cancelled"
            return
        if isinstance(outcome, Retry):
            self.fail(job, outcome.after_ms)
        elif isinstance(outcome, Released):
            job.state = job.may_start("ready")
        else:
            job.state = LEADS_TO[type(outcome)]

    def fail(self, job: Job, after_ms: int | None) -> None:
        """A failure was counted: planned or ready again, or dead at the limit."""
        job.failures += 1
        if job.failures >= job.failures_max:
            job.state = "dead"
        else:
            job.state = "planned" if after_ms != 0 or job.open_edges else "ready"
