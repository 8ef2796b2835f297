"""The queue: work comes in, becomes due, and is claimed."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Final

from appliance import errors, limits
from appliance.coordination.states import Actor
from appliance.coordination.work import (
    Answered,
    Claimed,
    FilePlace,
    Folding,
    Holder,
    JobId,
    Lease,
    Submission,
    Submitted,
    cut,
    digest,
    encode,
    is_text,
)
from appliance.store.ledger import Ledger, Transaction
from appliance.store.statements import load

SQL: Final = load("appliance.coordination", "queue.sql")
SPLITS: Final = load("appliance.coordination", "splits.sql")
FOLD_MOST: Final = 16  # parts that one holder of a fold takes at a time


def bindings(submission: Submission) -> dict[str, Any]:
    """A submission checked and made ready for the ledger, outside any transaction.

    Raises ``PayloadError`` for what is over its limit or not JSON.
    """
    payload = encode(submission.payload, limits.PAYLOAD_BYTES_MAX, "payload")
    work_id = digest(payload) if submission.work_id is None else submission.work_id
    if not 0 < len(work_id) <= limits.WORK_ID_CHARS_MAX or "\0" in work_id or not is_text(work_id):
        message = f"a work id has 1 to {limits.WORK_ID_CHARS_MAX} characters, no NUL and no lone surrogates"
        raise errors.PayloadError(message)
    if not is_text(submission.kind) or not 0 < (1 if submission.version is None else submission.version) <= limits.VERSION_MOST:
        message = f"a kind is a name, a version is from 1 to {limits.VERSION_MOST}"
        raise errors.PayloadError(message)
    if abs(submission.priority) > limits.PRIORITY_MOST or not 0 <= submission.after_ms <= limits.AFTER_MS_MAX:
        message = (
            f"a priority is from -{limits.PRIORITY_MOST} to {limits.PRIORITY_MOST}, a delay from 0 to {limits.AFTER_MS_MAX} ms"
        )
        raise errors.PayloadError(message)
    return {
        "kind": submission.kind,
        "work_id": work_id,
        "version": submission.version,
        "again": submission.again,
        "priority": submission.priority,
        "after_ms": submission.after_ms,
        "head_start_ms": limits.HEAD_START_MS,
        "payload": payload,
        "source": cut(submission.source),
        "correlation": cut(submission.correlation),
        "parent_id": submission.parent_id,
    }


def submit(tx: Transaction, submissions: Sequence[Submission], actor: Actor = Actor.CLIENT) -> list[Submitted]:
    """Take work in; for work that is already known the existing job is the answer, with its state.

    Raises ``UnknownKindError``, ``WalFullError``, and ``PayloadError`` as ``bindings`` does; then nothing of the batch is taken in.
    """
    return submit_bound(tx, [bindings(submission) for submission in submissions], actor)


def submit_bound(tx: Transaction, bound: Sequence[dict[str, Any]], actor: Actor = Actor.CLIENT) -> list[Submitted]:
    """``submit`` for submissions that ``bindings`` made ready.

    Raises ``WalFullError`` for new work while the WAL is over its bound; the follow-ups of work in hand belong to that work.
    """
    if actor is not Actor.WORKER:
        tx.require_room()
    answers = [_submit(tx, each, actor) for each in bound]
    if any(answer.new and answer.state == "ready" for answer in answers):
        tx.topics.add("work")
    if any(answer.new and answer.state == "planned" for answer in answers):
        tx.topics.add("due")
    return answers


def _submit(tx: Transaction, each: dict[str, Any], actor: Actor) -> Submitted:
    row = tx.row(SQL["submit"], each | {"now": tx.now.ms, "due_ms": tx.now.ms + each["after_ms"], "actor": actor, "cause": None})
    if row:
        return Submitted(id=row[0], state=row[1], new=True)
    known = tx.row(SQL["existing"], each) or tx.row(SQL["past"], each)
    if known:
        return Submitted(id=known[0], state=known[1], new=False)
    message = f"no handler of kind {each['kind']!r} has been declared"
    raise errors.UnknownKindError(message)


def ripen(tx: Transaction, actor: Actor = Actor.WORKER) -> int:
    """Move what has become due; anybody may, a second time is a no-op.  How many moved."""
    bound = {"now": tx.now.ms, "most": limits.RIPEN_MOST, "actor": actor}
    moved = len(tx.rows(SQL["ripen"], bound)) + len(tx.rows(SPLITS["ripen_parts"], bound))
    if moved:
        tx.topics.add("work")
    return moved


def waits(ledger: Ledger, reads: str) -> bool:
    """Whether a claim would find work now: a look that takes no turn."""
    return bool(ledger.read(SQL["waits"], {"reads": reads, "now": ledger.clock.ledger().ms})[0][0])


def next_due_ms(ledger: Ledger) -> int | None:
    """The ledger time at which the next planned work becomes due."""
    due: int | None = ledger.read(SQL["next_due"])[0][0]
    return due


def claim(tx: Transaction, reads: str, holder: Holder, most: int) -> list[Claimed]:
    """Lease up to ``most`` pieces of work, best rank first: at most one fold, then parts and jobs in their common order.

    ``reads`` is ``kinds.reads(...)``: what the claimer can do.  The fence of each is durable when the transaction returns.
    """
    bound = {"reads": reads, "holder": holder, "now": tx.now.ms, "most": most}
    folds = tx.rows(SPLITS["claim_folds"], bound | {"most": 1})
    parts = tx.rows(SPLITS["claim_parts"], bound | {"most": most - len(folds)}) if most > len(folds) else []
    left = most - len(folds) - len(parts)
    jobs = tx.rows(SQL["claim"], bound | {"most": left}) if left else []
    return [_fold(tx, row) for row in folds] + sorted(
        [_part(tx, row) for row in parts] + [_job(row) for row in jobs], key=lambda each: (each.rank, each.lease.ordinal or 0)
    )


def _job(row: tuple[Any, ...]) -> Claimed:
    rank, id_, attempt, kind, version, failures, failures_max, payload = row
    return Claimed(
        lease=Lease(noun="job", id=id_, attempt=attempt, fence=attempt),
        kind=kind,
        version=version,
        rank=rank,
        payload=json.loads(payload),
        failures=failures,
        failures_max=failures_max,
    )


def _part(tx: Transaction, row: tuple[Any, ...]) -> Claimed:
    rank, id_, attempt, ordinal, fence, kind, version, failures, failures_max, params = row
    return Claimed(
        lease=Lease(noun="part", id=id_, attempt=attempt, fence=fence, ordinal=ordinal),
        kind=kind,
        version=version,
        rank=rank,
        payload=_payload(tx, id_),
        failures=failures,
        failures_max=failures_max,
        params=json.loads(params),
        files=tuple(file for file in files(tx, id_, attempt) if file.ordinal < 0),
    )


def _fold(tx: Transaction, row: tuple[Any, ...]) -> Claimed:
    rank, id_, attempt, fence, kind, version, failures, failures_max, parts, folded, carried, output_fence, output_bytes = row
    answers = tx.rows(SPLITS["foldable"], {"id": id_, "attempt": attempt, "folded": folded, "most": FOLD_MOST})
    return Claimed(
        lease=Lease(noun="split", id=id_, attempt=attempt, fence=fence),
        kind=kind,
        version=version,
        rank=rank,
        payload=_payload(tx, id_),
        failures=failures,
        failures_max=failures_max,
        files=tuple(files(tx, id_, attempt)),
        folding=Folding(
            parts=parts,
            folded=folded,
            carried=json.loads(carried),
            output_fence=output_fence,
            output_bytes=output_bytes,
            answers=tuple(_answered(row) for place, row in enumerate(answers) if row[0] == folded + place),
        ),
    )


def _answered(row: tuple[Any, ...]) -> Answered:
    ordinal, state, attempt, params, result, error = row
    return Answered(
        ordinal=ordinal,
        dead=state == "dead",
        attempt=attempt,
        params=json.loads(params),
        result=None if result is None else json.loads(result),
        error=error,
    )


def _payload(tx: Transaction, id_: JobId) -> Any:  # noqa: ANN401 - JSON of the handler's own shape
    row = tx.row(SPLITS["payload"], {"id": id_})
    return None if row is None else json.loads(row[0])


def files(tx: Transaction, id_: JobId, attempt: int) -> list[FilePlace]:
    """The files of one attempt of a job, its parts' included."""
    return [
        FilePlace(id=id_, attempt=attempt, ordinal=ordinal, part_attempt=part_attempt, name=name, size_bytes=size, sha256=sha256)
        for ordinal, part_attempt, name, size, sha256 in tx.rows(SPLITS["files"], {"id": id_, "attempt": attempt})
    ]
