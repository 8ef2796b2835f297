"""Split and fold: one job in many parts, folded strictly in order.

Invariant: ``folded <= opened <= folded + width``, so storage follows the window; a part's row and files go in the transaction
that folded it; whoever folds holds the split's own fence, and every write of a fold carries it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, get_args

from appliance import errors, limits
from appliance.coordination import files, leases
from appliance.coordination.leases import Failure, bound, late
from appliance.coordination.outcomes import Done, Json, OnDead, Redo, Reject, Retry, Split, Unclear
from appliance.coordination.states import Actor
from appliance.coordination.work import FilePlace, Holder, JobId, Lease, cut, digest, encode
from appliance.store.ledger import Ledger, Transaction
from appliance.store.statements import load

SQL: Final = load("appliance.coordination", "splits.sql")
ON_DEAD: Final = get_args(OnDead)
CARRIED_BYTES_MAX: Final = 4 << 20  # what a fold carries from part to part


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """What a holder of a fold did: how far it came, what it carries, its output, and what should happen next.

    ``redo`` is (ordinal, attempt, params) of a part to be measured again; ``end`` the outcome of a fold that is complete or
    cannot go on.
    """

    folded: int
    carried: Json
    output_bytes: int
    redo: tuple[int, int, Redo] | None = None
    end: Any = None


def split(tx: Transaction, lease: Lease, outcome: Split, started_ms: int | None) -> bool:
    """Turn a leased job into one that gathers its parts.

    Raises ``PayloadError`` for a split out of its bounds.
    """
    if not (1 <= outcome.count <= limits.PARTS_MOST and 1 <= outcome.window <= limits.WINDOW_MOST and outcome.on_dead in ON_DEAD):
        message = f"a split has 1 to {limits.PARTS_MOST} parts, a window of 1 to {limits.WINDOW_MOST}, and on_dead of {ON_DEAD}"
        raise errors.PayloadError(message)
    facts = bound(tx, lease, started_ms) | {
        "parts": outcome.count,
        "width": outcome.window,
        "when_dead": outcome.on_dead,
        "carried": encode(outcome.state, CARRIED_BYTES_MAX, "state of the fold"),
    }
    if not tx.row(SQL["open_split"], facts):
        return late(tx, lease, "split")
    tx.row(SQL["split"], facts)
    _widen(tx, facts)
    return True


def _widen(tx: Transaction, facts: dict[str, Any]) -> None:
    """Open the parts that the window lets in."""
    row = tx.row(SQL["widen"], facts)
    if row:
        tx.rows(SQL["open_parts"], facts | {"opened": row[0]})
        tx.topics.add("work")


def finish_part(tx: Transaction, lease: Lease, result: Json, started_ms: int | None) -> bool:
    """A part is measured; its files' rows are kept before, in the same transaction."""
    value = encode(result, limits.RESULT_BYTES_MAX, "result of the part")
    if not tx.row(SQL["finish_part"], bound(tx, lease, started_ms) | {"value": value}):
        return late(tx, lease, "finish")
    _offer(tx, lease, Actor.HOLDER)
    return True


def fail(tx: Transaction, lease: Lease, failure: Failure, started_ms: int | None = None) -> bool:
    """``leases.fail`` for a part or a fold; where that buried it, the fold takes it as missing or its job counts a failure."""
    return leases.fail(tx, lease, failure, started_ms) and _after_loss(tx, lease, failure.actor)


def release(tx: Transaction, lease: Lease, *, started: bool, cause: str, actor: Actor = Actor.HOLDER) -> bool:
    """``leases.release`` for a part or a fold, with the same consequence when it was started too often."""
    return leases.release(tx, lease, started=started, cause=cause, actor=actor) and _after_loss(tx, lease, actor)


def give_up_part(tx: Transaction, lease: Lease, end: Reject | Unclear, started_ms: int | None) -> bool:
    """A part says that its whole job cannot come to a result; that the part ends first proves its fence."""
    text = end.what if isinstance(end, Reject) else end.question
    why = {"error_class": "part", "error_text": cut(text), "actor": Actor.HOLDER, "cause": cut(text)}
    if not tx.row(SQL["bury_part"], bound(tx, lease, started_ms) | why):
        return late(tx, lease, "give up")
    return _end_job(tx, lease, end)


def _end_job(tx: Transaction, lease: Lease, end: Reject | Unclear) -> bool:
    """The gathering job of a part or a fold that was just ended is rejected or unclear."""
    job = _gathering(lease.id, lease.attempt)
    if isinstance(end, Reject):
        leases.reject(tx, job, end.what, None)
    else:
        leases.doubt(tx, job, end.question, None)
    forget(tx, job)
    return True


def _gathering(id_: JobId, attempt: int) -> Lease:
    return Lease(noun="job", id=id_, attempt=attempt, fence=attempt, gathers=True)


def _after_loss(tx: Transaction, lease: Lease, actor: Actor) -> bool:
    _offer(tx, lease, actor)
    row = tx.row(SQL["gathering_dead"], {"id": lease.id})
    if row:
        id_, attempt, text = row
        job = _gathering(id_, attempt)
        if not leases.stop(tx, job, started=False, cause="cancelled while gathering", actor=actor):
            leases.fail(tx, job, Failure(error_class="part", error_text=text or "", actor=actor))
        forget(tx, job)
    return True


def at_work_on_asked(tx: Transaction) -> list[tuple[Holder, int]]:
    """(holder, job) of everybody who works on a gathering job that somebody asked to cancel: for a look after ``stop_asked``."""
    return [(holder, id_) for holder, id_ in tx.rows(SQL["at_work_on_asked"])]


def stop_asked(tx: Transaction) -> list[int]:
    """End the gathering jobs that somebody asked to cancel, their parts with them; their ids.  The steward's."""
    stopped = []
    for id_, attempt in tx.rows(SQL["gathering_asked"]):
        job = _gathering(id_, attempt)
        if leases.stop(tx, job, started=False, cause="cancelled while gathering", actor=Actor.STEWARD):
            forget(tx, job)
            stopped.append(id_)
    if stopped:
        tx.topics.add("ask")  # who has claimed a part since somebody asked has not heard of it
    return stopped


def _offer(tx: Transaction, lease: Lease, actor: Actor) -> None:
    if tx.row(SQL["offer"], {"id": lease.id, "attempt": lease.attempt, "actor": actor, "now": tx.now.ms}):
        tx.topics.add("work")


def forget(tx: Transaction, lease: Lease) -> None:
    """Drop the parts, the split and the files of a gathering that came to no result."""
    facts = {"id": lease.id, "attempt": lease.attempt}
    for name in ("forget_parts", "forget_split", "forget_files"):
        tx.rows(SQL[name], facts)


def step(tx: Transaction, lease: Lease, done: Step, files: list[FilePlace]) -> bool:
    """Commit what a holder of a fold did: state, length and the folded parts' deletion together, or the end of the job."""
    facts = bound(tx, lease) | {
        "folded": done.folded,
        "carried": encode(done.carried, CARRIED_BYTES_MAX, "state of the fold"),
        "output_fence": lease.fence,
        "output_bytes": done.output_bytes,
    }
    if isinstance(done.end, Done):
        return _conclude(tx, lease, facts, done.end, files)
    if isinstance(done.end, Retry):
        failure = Failure(error_class=done.end.error_class, error_text=done.end.why)
        return fail(tx, lease, failure)
    if isinstance(done.end, Reject | Unclear):
        return _give_up(tx, lease, facts, done.end)
    if done.redo and not _redo(tx, facts, done.redo):
        question = f"part {done.redo[0]} does not fit and cannot be measured again (attempt {done.redo[1]}): is its input harmful?"
        return _give_up(tx, lease, facts, Unclear(question))
    if not tx.row(SQL["step"], facts):
        return late(tx, lease, "step")
    _forget_folded(tx, facts)
    _widen(tx, facts)
    tx.topics.add("work")
    return True


def progress(ledger: Ledger, id_: int) -> tuple[int, int, int] | None:
    """Of a split job: its parts, how many are folded, and how many more are measured."""
    rows = ledger.read(SQL["progress"], {"id": id_})
    return rows[0] if rows else None


def any_asked(ledger: Ledger) -> bool:
    """Whether somebody asked to cancel a gathering job: a look that takes no turn."""
    return bool(ledger.read(SQL["gathering_asked"], rows_max=1))


def named_files(ledger: Ledger, id_: int, attempt: int) -> set[str] | None:
    """The names of the files that an attempt's rows name; None for one at work, whose files may have no rows yet."""
    facts = {"id": id_, "attempt": attempt}
    if ledger.read(SQL["at_work"], facts):
        return None
    return {files.file_name(*row) for row in ledger.read(SQL["named_files"], facts)}


def _forget_folded(tx: Transaction, facts: dict[str, Any]) -> None:
    tx.rows(SQL["forget_folded"], facts)
    tx.rows(SQL["forget_folded_files"], facts)


def _redo(tx: Transaction, facts: dict[str, Any], redo: tuple[int, int, Redo]) -> bool:
    """Have a part measured again; False for a dead part, one measured too often, and a fence that was lost."""
    ordinal, attempt, outcome = redo
    params = encode(outcome.params, limits.TEXT_CHARS_MAX, "params of the part")
    again = facts | {"ordinal": ordinal, "attempts_max": limits.PART_ATTEMPTS_MOST}
    landed = bool(tx.row(SQL["redo_part"], again | {"job_attempt": facts["attempt"], "attempt": attempt, "params": params}))
    if landed:
        tx.rows(SQL["forget_part_files"], again)
    return landed


def _conclude(tx: Transaction, lease: Lease, facts: dict[str, Any], end: Done, files: list[FilePlace]) -> bool:
    value = encode(end.result, limits.RESULT_BYTES_MAX, "result")
    if not tx.row(SQL["finish_split"], facts):
        return late(tx, lease, "fold")
    tx.rows(SQL["keep_fold_result"], facts | {"value": value, "sha256": digest(value)})
    tx.row(SQL["fold"], facts)
    leases.keep_files(tx, files)
    tx.rows(SQL["forget_parts"], facts)
    _forget_folded(tx, facts)
    tx.topics.add("ends")
    return True


def _give_up(tx: Transaction, lease: Lease, facts: dict[str, Any], end: Reject | Unclear) -> bool:
    """The fold says that the job cannot come to a result: its split ends first, which proves the fence."""
    text = end.what if isinstance(end, Reject) else end.question
    why = {"error_class": "fold", "error_text": cut(text), "actor": Actor.HOLDER, "cause": cut(text)}
    if not tx.row(SQL["bury_fold"], facts | why):
        return late(tx, lease, "fold")
    return _end_job(tx, lease, end)
