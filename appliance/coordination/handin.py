"""Handing in: the outcome of a lease, its result, files and follow-ups, as part of one transaction.

Which function of the ledger stands for which outcome is decided here and nowhere else.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from appliance import errors, limits
from appliance.clock import LedgerInstant
from appliance.coordination import backoff, leases, queue, splits
from appliance.coordination.leases import Failure
from appliance.coordination.outcomes import Done, Follow, Outcome, Reject, Retry, Snooze, Split, Unclear
from appliance.coordination.splits import Step
from appliance.coordination.states import Actor
from appliance.coordination.work import Claimed, FilePlace, Submission
from appliance.store.ledger import Transaction

DIED: Final = "died."  # how the error class begins when a process died over its work


@dataclass(frozen=True, slots=True, kw_only=True)
class Released:
    """The work was not done, or not to its end, for no fault of its own."""

    cause: str
    started: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Returned:
    """A lease with its outcome: what a worker hands in, with when it began.  ``files`` are written and synced."""

    claimed: Claimed
    outcome: Outcome | Step | Released
    started: LedgerInstant | None = None
    files: tuple[FilePlace, ...] = ()
    backoff_ms: int = 1_000
    chance: float = 0.5


def hand_in(tx: Transaction, returned: Returned) -> bool:
    """Commit one outcome; False when its fence was lost, and then nothing of it is in the ledger.

    Raises ``PayloadError`` and ``UnknownKindError`` for an outcome that cannot be kept; the transaction is then to be given up.
    """
    match returned.claimed.lease.noun:
        case "job":
            return _job(tx, returned)
        case "part":
            return _part(tx, returned)
        case "split":
            return _fold(tx, returned)


def hand_in_all(tx: Transaction, returned: Iterable[Returned]) -> list[Returned]:
    """``hand_in`` for a batch: those that landed.  Jobs that are done go in together."""
    done: list[Returned] = []
    landed: list[Returned] = []
    for each in returned:
        if each.claimed.lease.noun == "job" and isinstance(each.outcome, Done):
            done.append(each)
        elif hand_in(tx, each):
            landed.append(each)
    return _done(tx, done) + landed


def _fold(tx: Transaction, returned: Returned) -> bool:
    lease, outcome = returned.claimed.lease, returned.outcome
    if isinstance(outcome, Step):
        landed = splits.step(tx, lease, outcome, list(returned.files))
        if landed and isinstance(outcome.end, Done):
            _follow(tx, returned, outcome.end.then)
        return landed
    if isinstance(outcome, Released):
        return splits.release(tx, lease, started=outcome.started, cause=outcome.cause)
    return splits.fail(tx, lease, _failure(returned))


def _job(tx: Transaction, returned: Returned) -> bool:
    lease, outcome = returned.claimed.lease, returned.outcome
    if isinstance(outcome, Done):
        return bool(_done(tx, [returned]))
    began = not isinstance(outcome, Released) or outcome.started
    if leases.stop(tx, lease, started=began, cause="asked to stop"):
        return True
    return _split(tx, returned, outcome) if isinstance(outcome, Split) else _not_done(tx, returned)


def _not_done(tx: Transaction, returned: Returned) -> bool:
    lease, outcome, started_ms = returned.claimed.lease, returned.outcome, _started_ms(returned)
    match outcome:
        case Released():
            return leases.release(tx, lease, started=outcome.started, cause=outcome.cause)
        case Snooze():
            return leases.snooze(tx, lease, outcome.after_ms, outcome.why, started_ms)
        case Reject():
            return leases.reject(tx, lease, outcome.what, started_ms)
        case Unclear():
            return leases.doubt(tx, lease, outcome.question, started_ms)
        case _:
            return leases.fail(tx, lease, _failure(returned), started_ms)


def _split(tx: Transaction, returned: Returned, outcome: Split) -> bool:
    landed = splits.split(tx, returned.claimed.lease, outcome, _started_ms(returned))
    if landed:
        leases.keep_files(tx, list(returned.files))
    return landed


def _done(tx: Transaction, returned: Sequence[Returned]) -> list[Returned]:
    """Jobs that came to a result, all at once, and what goes with each that landed."""
    done = [(each, each.outcome) for each in returned if isinstance(each.outcome, Done)]
    finished = leases.finish(tx, [(each.claimed.lease, outcome.result, _started_ms(each)) for each, outcome in done])
    landed = [(each, outcome) for each, outcome in done if each.claimed.lease in finished]
    for each, outcome in landed:
        _follow(tx, each, outcome.then)
        leases.keep_files(tx, list(each.files))
    return [each for each, _ in landed]


def _part(tx: Transaction, returned: Returned) -> bool:
    lease, outcome = returned.claimed.lease, returned.outcome
    if isinstance(outcome, Released):
        return splits.release(tx, lease, started=outcome.started, cause=outcome.cause)
    if isinstance(outcome, Done):
        if landed := splits.finish_part(tx, lease, outcome.result, _started_ms(returned)):
            leases.keep_files(tx, list(returned.files))
        return landed
    if isinstance(outcome, Reject | Unclear):
        return splits.give_up_part(tx, lease, outcome, _started_ms(returned))
    return splits.fail(tx, lease, _failure(returned), _started_ms(returned))


def _started_ms(returned: Returned) -> int | None:
    return None if returned.started is None else returned.started.ms


def _failure(returned: Returned) -> Failure:
    """What counts as a failure, and when the next attempt may start."""
    outcome = returned.outcome
    died = isinstance(outcome, Retry) and outcome.error_class.startswith(DIED)
    delay = backoff.delay_after_death_ms if died else backoff.delay_ms
    wait_ms = delay(returned.claimed.failures, returned.backoff_ms, returned.chance)
    if isinstance(outcome, Retry):
        if outcome.after_ms is not None:
            wait_ms = outcome.after_ms
        return Failure(error_class=outcome.error_class, error_text=outcome.why, after_ms=wait_ms)
    name = type(outcome).__name__.lower()
    text = f"a {returned.claimed.lease.noun} cannot end in {name}: {outcome!r}"
    return Failure(error_class=f"outcome.{name}", error_text=text, after_ms=wait_ms)


def _follow(tx: Transaction, returned: Returned, then: object) -> None:
    """Submit the follow-ups; their identity derives from (parent, ordinal), so no attempt adds a second set.

    Raises ``PayloadError`` when they are too large together, and as ``queue.submit`` does.
    """
    follows = [each for each in then if isinstance(each, Follow)] if isinstance(then, list | tuple) else []
    parent = returned.claimed.lease.id
    asked = [
        Submission(
            kind=each.kind,
            payload=each.payload,
            work_id=f"then:{parent}:{ordinal}",
            priority=each.priority,
            after_ms=each.after_ms,
            parent_id=parent,
        )
        for ordinal, each in enumerate(follows)
    ]
    if asked:
        bound = [queue.bindings(each) for each in asked]
        size = sum(len(each["payload"]) for each in bound)
        if size > limits.FOLLOWS_BYTES_MAX:
            message = f"the follow-ups have payloads of {size} bytes together, {limits.FOLLOWS_BYTES_MAX} are allowed"
            raise errors.PayloadError(message)
        queue.submit_bound(tx, bound, Actor.WORKER)
