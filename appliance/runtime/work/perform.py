"""Doing one piece of claimed work: the context, the handler's function, its outcome, and the files that go with it.

This is the bulkhead around handlers: whatever one raises becomes an outcome that counts a failure.
"""

from __future__ import annotations

import errno
import os
import random
import shutil
import traceback
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from appliance import errors, limits
from appliance.clock import LedgerInstant
from appliance.coordination import files
from appliance.coordination.handin import Released, Returned
from appliance.coordination.handlers import Context
from appliance.coordination.outcomes import Done, Folded, Json, Outcome, Output, Part, Redo, Reject, Retry, Snooze, Split, Unclear
from appliance.coordination.splits import Step
from appliance.coordination.work import Answered, Claimed, Encoded, FilePlace, Folding, Lease, encode
from appliance.runtime.call import Call, Function, Perform
from appliance.runtime.kind_argument import KindArgument

OUTCOMES: Final = (Done, Retry, Snooze, Reject, Unclear, Split, Released)
FOLD_OUTCOMES: Final = (Folded, Redo, Retry, Reject, Unclear, Released)
TRACE_CHARS_MAX: Final = 2_000
FULL: Final = frozenset({errno.ENOSPC, errno.EDQUOT})


@dataclass(frozen=True, slots=True, kw_only=True)
class Bench:
    """Where a worker works: the state folder, its scratch folder, what carries a call out, and how work is watched."""

    state: Path
    scratch: Path
    perform: Perform
    cancelled: Callable[[Lease], bool]
    progress: Callable[[Lease, int, int], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Piece:
    """One piece of work on the bench."""

    bench: Bench
    claimed: Claimed
    kind: KindArgument

    def context(self) -> Context:
        lease = self.claimed.lease
        shared = {place.name: files.path(self.bench.state, place) for place in self.claimed.files if place.ordinal < 0}
        return Context(
            job_id=lease.id,
            kind=self.kind.kind,
            attempt=lease.fence,
            scratch=self.bench.scratch,
            ordinal=lease.ordinal,
            params=self.claimed.params,
            files=shared,
            cancelled=lambda: self.bench.cancelled(lease),
            progress=lambda done, total: self.bench.progress(lease, done, total),
        )

    def call(self, function: Function, state: Json = None, subject: Part | Output | None = None) -> Any:  # noqa: ANN401 - judged by the caller
        """Carry out a call; what a handler raises is a ``Retry``."""
        call = Call(
            function=function, kind=self.kind, context=self.context(), payload=self.claimed.payload, state=state, subject=subject
        )
        try:
            return self.bench.perform(call)
        except errors.NoRoomError:
            raise
        except MemoryError:
            return Retry("the handler ran out of memory", error_class="memory")
        except errors.PayloadError as error:
            return Retry(str(error), error_class="outcome.PayloadError")
        except BaseException as error:  # noqa: BLE001 - the bulkhead around handlers: sys.exit() in one ends its attempt, not the worker
            return Retry(_told(error), error_class=f"raised.{type(error).__name__}")


def do(bench: Bench, claimed: Claimed, kind: KindArgument, started: LedgerInstant | None = None) -> Returned:
    """Do a piece of work and make its outcome ready to be handed in: checked, its files written and synced.

    Raises ``StorageFullError`` and ``StorageFailingError`` when the disk refuses the files, ``NoRoomError`` when the machine has no
    room for a hand: then the process ends, which is no failure of the work, and another is started at a pace.
    """
    piece = _Piece(bench=bench, claimed=claimed, kind=kind)
    try:
        outcome, places = _fold(piece) if claimed.folding else _job(piece)
    except errors.PayloadError as error:
        outcome, places = Retry(str(error), error_class="outcome.PayloadError"), ()
    except FileNotFoundError as error:  # of our own: somebody overtook this holder, or the job was cancelled under it
        outcome, places = Released(cause=f"its file was taken away: {error.filename}", started=True), ()
    except OSError as error:
        message = f"the files of job {claimed.lease.id} were refused: {error}"
        refused = errors.StorageFullError if error.errno in FULL else errors.StorageFailingError
        raise refused(message) from error
    _empty(bench.scratch)
    chance = random.random()  # noqa: S311 - jitter, no secret
    return Returned(claimed=claimed, outcome=outcome, started=started, files=places, backoff_ms=kind.backoff_ms, chance=chance)


def _job(piece: _Piece) -> tuple[Outcome | Released, tuple[FilePlace, ...]]:
    outcome = piece.call("work" if piece.claimed.lease.noun == "job" else "part")
    outcome = outcome if isinstance(outcome, OUTCOMES) else Done(outcome)
    if isinstance(outcome, Split):
        _check_split(outcome)
    if not isinstance(outcome, Done | Split):
        return outcome, ()
    fixed = _fixed(outcome)
    return fixed, files.write(piece.bench.state, piece.claimed.lease, outcome.files)


def _fixed(outcome: Done | Split) -> Done | Split:
    """The outcome as text, without its files: until it is handed in, the handler may change what it returned."""
    if isinstance(outcome, Split):
        return replace(outcome, state=Encoded(encode(outcome.state, limits.RESULT_BYTES_MAX, "result")), files={})
    then = [
        replace(follow, payload=Encoded(encode(follow.payload, limits.PAYLOAD_BYTES_MAX, "payload"))) for follow in outcome.then
    ]
    return Done(Encoded(encode(outcome.result, limits.RESULT_BYTES_MAX, "result")), then)


def _check_split(outcome: Split) -> None:
    if not (1 <= outcome.count <= limits.PARTS_MOST and 1 <= outcome.window <= limits.WINDOW_MOST):
        message = (
            f"a split has 1 to {limits.PARTS_MOST} parts and a window of 1 to {limits.WINDOW_MOST}, "
            f"not {outcome.count} and {outcome.window}"
        )
        raise errors.PayloadError(message)


def _fold(piece: _Piece) -> tuple[Step | Retry | Released, tuple[FilePlace, ...]]:
    """Fold the parts that have an answer, in order; conclude when all are folded."""
    folding = piece.claimed.folding
    if folding is None:
        message = "a fold was claimed without its place"
        raise errors.HandlerError(message)
    lease, bench = piece.claimed.lease, piece.bench
    mine = files.take_over(bench.state, lease, folding)
    step, output = _fold_answers(piece, folding)
    if isinstance(step.end, Retry | Released):
        return step.end, ()
    step = replace(step, output_bytes=files.append(mine, folding.output_bytes, output))
    if step.end is not None or step.folded < folding.parts:
        return step, ()
    place = files.output_place(piece.claimed, mine, step.output_bytes)
    end = piece.call("conclude", step.carried, Output(path=mine, size_bytes=place.size_bytes, sha256=place.sha256))
    end = end if isinstance(end, OUTCOMES) else Done(end)
    if not isinstance(end, Done):
        return (end, ()) if isinstance(end, Retry | Released) else (replace(step, end=end), ())
    fixed = _fixed(end)
    return replace(step, end=fixed), (*files.write(bench.state, lease, end.files), place)


def _fold_answers(piece: _Piece, folding: Folding) -> tuple[Step, bytes]:
    """Fold up to the first part that has no answer, is to be measured again, or ends the fold."""
    carried, output = folding.carried, bytearray()
    for done, answer in enumerate(folding.answers):
        step = Step(folded=folding.folded + done, carried=carried, output_bytes=0)
        outcome = piece.call("fold", carried, _part(piece, answer))
        if isinstance(outcome, Redo) and not answer.dead:
            return replace(step, redo=(answer.ordinal, answer.attempt, outcome)), bytes(output)
        if not isinstance(outcome, Folded):
            known = isinstance(outcome, FOLD_OUTCOMES) and not isinstance(outcome, Redo)
            end = outcome if known else Retry(f"a fold cannot end in {outcome!r}"[:TRACE_CHARS_MAX], error_class="outcome")
            return replace(step, end=end), bytes(output)
        carried = outcome.state
        output += outcome.output
        if len(output) >= limits.STEP_BYTES_ENOUGH:
            return Step(folded=folding.folded + done + 1, carried=carried, output_bytes=0), bytes(output)
    return Step(folded=folding.folded + len(folding.answers), carried=carried, output_bytes=0), bytes(output)


def _part(piece: _Piece, answer: Answered) -> Part:
    own = [place for place in piece.claimed.files if (place.ordinal, place.part_attempt) == (answer.ordinal, answer.attempt)]
    return Part(
        ordinal=answer.ordinal,
        result=answer.result,
        files={place.name: files.path(piece.bench.state, place) for place in own},
        params=answer.params,
        error=answer.error if answer.dead else None,
    )


def _told(error: BaseException) -> str:
    """What a person should read of an exception: its end, where the cause stands."""
    return "".join(traceback.format_exception(error))[-TRACE_CHARS_MAX:]


def _empty(scratch: Path) -> None:
    """What a handler left in its scratch folder goes with its attempt; a folder that it took away is made anew."""
    try:
        within = os.open(scratch, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        _remake(scratch)
        return
    try:
        names = os.listdir(within)
    finally:
        os.close(within)
    for left in (scratch / name for name in names):
        if left.is_dir() and not left.is_symlink():
            shutil.rmtree(left, ignore_errors=True)
        else:
            left.unlink(missing_ok=True)


def _remake(scratch: Path) -> None:
    """Whatever the handler put in the place of its folder, or made of its permissions."""
    if scratch.is_dir() and not scratch.is_symlink():
        scratch.chmod(0o700)
        shutil.rmtree(scratch, ignore_errors=True)
    else:
        scratch.unlink(missing_ok=True)
    scratch.mkdir(mode=0o700, exist_ok=True)
