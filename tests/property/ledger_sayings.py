"""What handlers and people may say to the ledger, for a machine to choose from."""

from __future__ import annotations

from collections.abc import Callable

from appliance.coordination import decisions
from appliance.coordination.handin import Released
from appliance.coordination.outcomes import Done, Folded, Follow, Outcome, Redo, Reject, Retry, Snooze, Split, Unclear
from appliance.coordination.splits import Step
from appliance.coordination.work import Claimed, FilePlace, Folding, JobId
from appliance.store.ledger import Transaction
from tests.ledger.box import WHO
from tests.property.ledger_model import Job

OUTCOMES: list[Outcome | Released] = [
    Done("x"),
    Done("x", [Follow(kind="noop", payload=1), Follow(kind="film", after_ms=5)]),
    Retry("again", after_ms=0),
    Retry("again", after_ms=50),
    Snooze(30),
    Reject("bad"),
    Unclear("eh?"),
    Released(cause="stop", started=False),
    Split(count=3, window=2, state=[]),
    Split(count=5, window=2, state=[], on_dead="fold"),
    Split(count=1, window=4, state=[]),
]


VERBS: dict[str, Callable[[Transaction, JobId], object]] = {
    "done": lambda tx, id_: decisions.decide(tx, id_, "done", WHO, "by hand"),
    "rejected": lambda tx, id_: decisions.decide(tx, id_, "rejected", WHO),
    "ready": lambda tx, id_: decisions.decide(tx, id_, "ready", WHO),
    "correct": lambda tx, id_: decisions.correct(tx, id_, "better", WHO),
    "revive": lambda tx, id_: decisions.revive(tx, id_, WHO),
    "cancel": lambda tx, id_: decisions.cancel(tx, id_, WHO),
}


def decided(job: Job, verb: str) -> str | None:
    """Where a person's verb leads a job; None where it does not lead on."""
    match verb, job.state:
        case ("done" | "rejected", "unclear"):
            return verb
        case ("ready", "unclear") | ("correct", "rejected") | ("revive", "dead"):
            return job.may_start("ready")
        case ("cancel", "leased" | "gathering"):
            return job.state
        case ("cancel", "planned" | "blocked" | "ready" | "unclear"):
            return "cancelled"
        case _:
            return None


def folded(claimed: Claimed, way: str) -> Step | Released | Retry:
    """What a fold does with the parts that it was offered; it ends with what it carried when all are folded."""
    fold = claimed.folding
    assert fold
    assert [each.ordinal for each in fold.answers] == list(range(fold.folded, fold.folded + len(fold.answers)))
    first = fold.answers[0] if fold.answers else None
    match way:
        case "redo" if first:
            return Step(
                folded=fold.folded, carried=fold.carried, output_bytes=0, redo=(first.ordinal, first.attempt, Redo({"x": 1}))
            )
        case "retry":
            return Retry("again")
        case "give up":
            return Step(folded=fold.folded, carried=None, output_bytes=0, end=Reject("bad"))
        case "release":
            return Released(cause="stop", started=True)
        case _:
            return on(fold)


def on(fold: Folding) -> Step:
    """Take every part that was offered."""
    at = fold.folded + len(fold.answers)
    carried = [*(fold.carried if isinstance(fold.carried, list) else []), *[each.ordinal for each in fold.answers]]
    assert carried == list(range(at)), "a part was folded twice, or passed over"
    return Step(folded=at, carried=carried, output_bytes=at, end=Done(carried) if at == fold.parts else Folded(None))


def files_of(claimed: Claimed, outcome: object) -> tuple[FilePlace, ...]:
    """A file of a job or part that is done or split."""
    lease = claimed.lease
    if lease.noun == "split" or not isinstance(outcome, Done | Split):
        return ()
    ordinal, part_attempt = (-1, 0) if lease.ordinal is None else (lease.ordinal, lease.fence)
    place_of = FilePlace(
        id=lease.id, attempt=lease.attempt, ordinal=ordinal, part_attempt=part_attempt, name="f", size_bytes=1, sha256="0" * 64
    )
    return (place_of,)
