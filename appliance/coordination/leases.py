"""What the holder of a lease may do with it, and what the steward does with the leases of the dead.

Every statement carries the fence.  One that finds no row lost its fence: somebody else acts on the work now.  That is a normal,
quiet outcome: the function returns False, an event ``late`` records it, and nothing else changes.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from appliance import limits
from appliance.clock import LedgerInstant
from appliance.coordination.outcomes import Json
from appliance.coordination.states import Actor, State
from appliance.coordination.work import FilePlace, Holder, Lease, cut, digest, encode
from appliance.store.ledger import Ledger, Row, Transaction
from appliance.store.statements import load

SQL: Final = load("appliance.coordination", "leases.sql")
SPLITS: Final = load("appliance.coordination", "splits.sql")
RETRY: Final = {"job": SQL["retry"], "part": SPLITS["retry_part"], "split": SPLITS["retry_fold"]}
BURY: Final = {"job": SQL["bury"], "part": SPLITS["bury_part"], "split": SPLITS["bury_fold"]}
RELEASE: Final = {"job": SQL["release"], "part": SPLITS["release_part"], "split": SPLITS["release_fold"]}


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """Why an attempt came to no result, and when the next may start (a delay; 0: at once)."""

    error_class: str
    error_text: str
    after_ms: int = 0
    actor: Actor = Actor.HOLDER


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """A lease as the steward finds it, with the failures counted before it."""

    lease: Lease
    failures: int
    kind: str


def bound(tx: Transaction, lease: Lease, started_ms: int | None = None) -> dict[str, Any]:
    """The bindings that every statement of a lease shares."""
    return {
        "id": lease.id,
        "attempt": lease.fence if lease.noun == "part" else lease.attempt,
        "job_attempt": lease.attempt,
        "ordinal": lease.ordinal,
        "fence": lease.fence,
        "stands": State.GATHERING if lease.gathers else State.LEASED,
        "now": tx.now.ms,
        "started_ms": started_ms,
        "head_start_ms": limits.HEAD_START_MS,
        "starts_max": limits.STARTS_WITHOUT_OUTCOME_MAX,
    }


def late(tx: Transaction, lease: Lease, move: str) -> bool:
    """Record that a move came too late; always False, as the answer of a refused move."""
    tx.rows(SQL["late"], bound(tx, lease) | {"noun": lease.noun, "cause": move})
    return False


def finish(tx: Transaction, done: Sequence[tuple[Lease, Json, int | None]]) -> set[Lease]:
    """Jobs are done: lease, result and start of each; the leases that still stood.

    Results and moves go in by one statement for all.  Files and follow-ups join the same transaction.
    """
    values = [encode(result, limits.RESULT_BYTES_MAX, "result") for _, result, _ in done]
    results = [
        {"id": lease.id, "attempt": lease.attempt, "value": value, "sha256": digest(value), "now": tx.now.ms}
        for (lease, _, _), value in zip(done, values, strict=True)
    ]
    kept = set(tx.each(SQL["keep_result"], results))
    landed = {lease for lease, _, _ in done if (lease.id, lease.attempt) in kept}
    if landed:
        landings = json.dumps([(lease.id, lease.attempt, started_ms) for lease, _, started_ms in done])
        tx.rows(SQL["finish"], {"landings": landings, "now": tx.now.ms})
        tx.topics.add("ends")
    for lease, _, _ in done:
        if lease not in landed:
            late(tx, lease, "finish")
    return landed


def keep_files(tx: Transaction, places: list[FilePlace]) -> None:
    """The rows of files that were written and synced before this transaction: those of the attempt that just landed."""
    for place in places:
        facts = {
            "id": place.id,
            "name": place.name,
            "size_bytes": place.size_bytes,
            "sha256": place.sha256,
            "ordinal": place.ordinal,
            "part_attempt": place.part_attempt,
            "job_attempt": place.attempt,
            "attempt": place.attempt if place.ordinal < 0 else place.part_attempt,
        }
        tx.rows(SQL["keep_file"] if place.ordinal < 0 else SPLITS["keep_part_file"], facts)


def fail(tx: Transaction, lease: Lease, failure: Failure, started_ms: int | None = None) -> bool:
    """Count a failure: retry later, or bury when the failures are used up."""
    error_class = cut(failure.error_class)
    facts = bound(tx, lease, started_ms) | {
        "due_ms": tx.now.ms + min(max(failure.after_ms, 0), limits.AFTER_MS_MAX),
        "error_class": error_class,
        "error_text": cut(failure.error_text),
        "actor": failure.actor,
        "cause": error_class,
    }
    if tx.row(RETRY[lease.noun], facts):
        tx.topics.add("due" if failure.after_ms > 0 else "work")
        return True
    if tx.row(BURY[lease.noun], facts):
        tx.topics.add("ends")
        return True
    return late(tx, lease, "retry")


def release(tx: Transaction, lease: Lease, *, started: bool, cause: str, actor: Actor = Actor.HOLDER) -> bool:
    """Hand work back without counting a failure; after too many starts without an outcome a person must look."""
    facts = bound(tx, lease) | {"started": int(started), "cause": cut(cause), "actor": actor}
    if tx.row(RELEASE[lease.noun], facts):
        tx.topics.add("work")
        return True
    return _started_too_often(tx, lease, facts)


def _started_too_often(tx: Transaction, lease: Lease, facts: dict[str, Any]) -> bool:
    text = f"started {limits.STARTS_WITHOUT_OUTCOME_MAX} times without an outcome ({facts['cause']}): is its input harmful?"
    facts = facts | {"error_class": "starts", "error_text": text, "cause": text}
    if tx.row(SQL["doubt"] if lease.noun == "job" else BURY[lease.noun], facts):
        tx.topics.add("ends")
        return True
    return late(tx, lease, "release")


def snooze(tx: Transaction, lease: Lease, after_ms: int, why: str, started_ms: int | None) -> bool:
    """Not yet: planned again without a failure; past the deadline for that a person must look."""
    wait_ms = min(max(after_ms, limits.SNOOZE_MS_MIN), limits.AFTER_MS_MAX)
    facts = bound(tx, lease, started_ms) | {
        "due_ms": tx.now.ms + wait_ms,
        "cause": cut(why),
        "snoozed_ms_max": limits.SNOOZED_MS_MAX,
    }
    tx.topics.add("due")
    return bool(tx.row(SQL["snooze"], facts)) or doubt(tx, lease, f'it says "not yet" for too long: {why}', started_ms)


def reject(tx: Transaction, lease: Lease, what: str, started_ms: int | None) -> bool:
    """The input is invalid."""
    tx.topics.add("ends")
    return bool(tx.row(SQL["reject"], bound(tx, lease, started_ms) | {"error_text": cut(what)})) or late(tx, lease, "reject")


def doubt(tx: Transaction, lease: Lease, question: str, started_ms: int | None) -> bool:
    """A person must decide."""
    facts = bound(tx, lease, started_ms) | {
        "started": 0,
        "error_class": "unclear",
        "error_text": cut(question),
        "actor": Actor.HOLDER,
        "cause": cut(question),
    }
    tx.topics.add("ends")
    return bool(tx.row(SQL["doubt"], facts)) or late(tx, lease, "doubt")


def stop(tx: Transaction, lease: Lease, *, started: bool, cause: str, actor: Actor = Actor.HOLDER) -> bool:
    """End a job that somebody asked to cancel; False when nobody asked or the fence is lost."""
    facts = bound(tx, lease) | {"started": int(started), "actor": actor, "cause": cut(cause)}
    tx.topics.add("ends")
    return bool(tx.row(SQL["stop"], facts))


def held(tx: Transaction, holder: Holder) -> list[Held]:
    """Everything that a holder holds."""
    return _held(tx.rows(SQL["held"], {"holder": holder}))


def held_now(ledger: Ledger, holder: Holder) -> list[Held]:
    """``held``, as a look that takes no turn."""
    return _held(ledger.read(SQL["held"], {"holder": holder}))


def _held(rows: list[Row]) -> list[Held]:
    return [
        Held(lease=Lease(noun=noun, id=id_, attempt=attempt, ordinal=ordinal, fence=fence), failures=failures, kind=kind)
        for noun, id_, attempt, ordinal, fence, failures, kind in rows
    ]


def any_asked(ledger: Ledger) -> bool:
    """Whether any work goes on that somebody asked to cancel."""
    return bool(ledger.read(SQL["any_asked"]))


def asked(tx: Transaction, holder: Holder) -> set[tuple[int, int]]:
    """(job, attempt) of what a holder works on and somebody asked to cancel."""
    return {(id_, attempt) for id_, attempt in tx.rows(SQL["asked"], {"holder": holder})}


def asked_now(ledger: Ledger, holder: Holder, current: Lease | None) -> set[tuple[int, int]]:
    """``asked``, as a look that takes no turn; the current lease is among them also when a cancelled job took its part away."""
    found = {(id_, attempt) for id_, attempt in ledger.read(SQL["asked"], {"holder": holder})}
    if current is not None and ledger.read(SQL["asked_of"], {"id": current.id, "attempt": current.attempt}):
        found.add((current.id, current.attempt))
    return found


def holders(ledger: Ledger) -> list[Holder]:
    """Everybody who holds anything."""
    return [holder for (holder,) in ledger.read(SQL["holders"])]


def ignored(ledger: Ledger, before: LedgerInstant) -> list[Holder]:
    """The holders of work that somebody asked to cancel before an instant, and that goes on."""
    return [holder for (holder,) in ledger.read(SQL["ignored"], {"before": before.ms})]
