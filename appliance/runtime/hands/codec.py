"""Outcomes as data, and back: what a hand answers.

A hand has held hostile bytes, so nothing it says is believed: types, sizes, names of files, numbers and depth are checked while
they are read, and what does not fit is a ``FrameGarbledError``.  The worker never unpickles, imports or calls what a hand names.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal, TypeAlias

import msgspec
from msgspec import Meta

from appliance import limits
from appliance.coordination.outcomes import (
    Done,
    Folded,
    FoldOutcome,
    Follow,
    Json,
    Outcome,
    Redo,
    Reject,
    Retry,
    Snooze,
    Split,
    Unclear,
)
from appliance.coordination.work import encode as canonical
from appliance.errors import PayloadError
from appliance.runtime.hands.frames import Frame, FrameGarbledError

MS_MOST: Final = 10 * 365 * 86_400_000  # ten years: more is a mistake

Name = Annotated[str, Meta(pattern=r"\A[A-Za-z0-9_-][A-Za-z0-9._-]{0,99}\Z")]
Kind = Annotated[str, Meta(pattern=r"\A[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)*\Z", max_length=limits.KIND_CHARS_MAX)]
Text = Annotated[str, Meta(max_length=limits.TEXT_CHARS_MAX)]
ErrorClass = Annotated[str, Meta(max_length=200)]
Ms = Annotated[int, Meta(ge=0, le=MS_MOST)]
Count = Annotated[int, Meta(ge=0, le=1 << 62)]
Names = Annotated[list[Name], Meta(max_length=limits.HAND_ATTACHMENTS_MOST)]


class FollowData(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A ``Follow``."""

    kind: Kind
    payload: msgspec.Raw
    priority: Annotated[int, Meta(ge=-limits.PRIORITY_MOST, le=limits.PRIORITY_MOST)]
    after_ms: Ms


class _Data(msgspec.Struct, frozen=True, kw_only=True, tag_field="is", forbid_unknown_fields=True):
    """What every header has: which one it is."""


class DoneData(_Data, frozen=True, kw_only=True, tag="done"):
    """A ``Done``; the attachments are the files, in the order of the names."""

    result: msgspec.Raw
    then: Annotated[list[FollowData], Meta(max_length=limits.FOLLOWS_MOST)]
    files: Names


class RetryData(_Data, frozen=True, kw_only=True, tag="retry"):
    """A ``Retry``."""

    why: Text
    after_ms: Ms | None
    error_class: ErrorClass


class SnoozeData(_Data, frozen=True, kw_only=True, tag="snooze"):
    """A ``Snooze``."""

    after_ms: Ms
    why: Text


class RejectData(_Data, frozen=True, kw_only=True, tag="reject"):
    """A ``Reject``."""

    what: Text


class UnclearData(_Data, frozen=True, kw_only=True, tag="unclear"):
    """An ``Unclear``."""

    question: Text


class SplitData(_Data, frozen=True, kw_only=True, tag="split"):
    """A ``Split``; the attachments are the files, in the order of the names."""

    count: Annotated[int, Meta(ge=1, le=limits.PARTS_MOST)]
    window: Annotated[int, Meta(ge=1, le=limits.WINDOW_MOST)]
    state: msgspec.Raw
    files: Names
    on_dead: Literal["bury", "fold"]


class FoldedData(_Data, frozen=True, kw_only=True, tag="folded"):
    """A ``Folded``; its output is the one attachment."""

    state: msgspec.Raw


class RedoData(_Data, frozen=True, kw_only=True, tag="redo"):
    """A ``Redo``."""

    params: msgspec.Raw


class Progress(_Data, frozen=True, kw_only=True, tag="progress"):
    """How far the handler has come."""

    done: Count
    total: Count


class Ready(_Data, frozen=True, kw_only=True, tag="ready"):
    """The hand has locked itself in and waits for calls."""


class OutOfMemory(_Data, frozen=True, kw_only=True, tag="memory"):
    """The handler ran into the bound on memory; the hand should not be used again."""


OutcomeData: TypeAlias = DoneData | RetryData | SnoozeData | RejectData | UnclearData | SplitData | FoldedData | RedoData
Answer: TypeAlias = OutcomeData | Progress | Ready | OutOfMemory
AnyOutcome: TypeAlias = Outcome | FoldOutcome


def encode(outcome: AnyOutcome) -> Frame:
    """The outcome as a frame.

    Raises ``PayloadError`` for a result, state, payload or params that are not JSON or over their bounds.
    """
    match outcome:
        case Done():
            data: OutcomeData = DoneData(
                result=_raw(outcome.result, "result"),
                then=[_follow(follow) for follow in outcome.then],
                files=sorted(outcome.files),
            )
            return _frame(data, outcome.files)
        case Split():
            data = SplitData(
                count=outcome.count,
                window=outcome.window,
                state=_raw(outcome.state, "state"),
                files=sorted(outcome.files),
                on_dead=outcome.on_dead,
            )
            return _frame(data, outcome.files)
        case Folded():
            return Frame(message(FoldedData(state=_raw(outcome.state, "state"))), (bytes(outcome.output),))
        case _:
            return Frame(message(_plain(outcome)))


def _plain(outcome: Retry | Snooze | Reject | Unclear | Redo) -> OutcomeData:
    match outcome:
        case Retry():
            return RetryData(why=_cut(outcome.why), after_ms=outcome.after_ms, error_class=outcome.error_class)
        case Snooze():
            return SnoozeData(after_ms=outcome.after_ms, why=_cut(outcome.why))
        case Reject():
            return RejectData(what=_cut(outcome.what))
        case Unclear():
            return UnclearData(question=_cut(outcome.question))
        case Redo():
            return RedoData(params=_raw(outcome.params, "params"))


def message(data: Answer) -> bytes:
    """The header of a frame."""
    return msgspec.json.encode(data)


def decode(frame: Frame) -> Answer:
    """What a frame from a hand says, checked in all but its JSON values.

    Raises ``FrameGarbledError``.
    """
    try:
        return msgspec.json.decode(frame.header, type=Answer)
    except (msgspec.MsgspecError, RecursionError) as error:
        raise _garbled(str(error)) from error


def outcome(data: OutcomeData, attachments: tuple[bytes, ...]) -> AnyOutcome:
    """The outcome that a hand's data mean.

    Raises ``FrameGarbledError`` for JSON values over their bounds, and for attachments that are not those of the data.
    """
    match data:
        case DoneData():
            then = [
                Follow(
                    kind=each.kind,
                    payload=_value(each.payload, limits.PAYLOAD_BYTES_MAX),
                    priority=each.priority,
                    after_ms=each.after_ms,
                )
                for each in data.then
            ]
            return Done(_value(data.result, limits.RESULT_BYTES_MAX), then, _files(data.files, attachments))
        case SplitData():
            state = _value(data.state, limits.RESULT_BYTES_MAX)
            files = _files(data.files, attachments)
            return Split(count=data.count, window=data.window, state=state, files=files, on_dead=data.on_dead)
        case FoldedData():
            output = _files(["output"], attachments)["output"]
            return Folded(_value(data.state, limits.RESULT_BYTES_MAX), output)
        case _:
            _files([], attachments)
            return _plain_outcome(data)


def _plain_outcome(data: RetryData | SnoozeData | RejectData | UnclearData | RedoData) -> AnyOutcome:
    match data:
        case RetryData():
            return Retry(data.why, data.after_ms, data.error_class)
        case SnoozeData():
            return Snooze(data.after_ms, data.why)
        case RejectData():
            return Reject(data.what)
        case UnclearData():
            return Unclear(data.question)
        case RedoData():
            params = _value(data.params, limits.PAYLOAD_BYTES_MAX)
            if not isinstance(params, dict):
                why = "params are an object"
                raise _garbled(why)
            return Redo(params)


def _follow(follow: Follow) -> FollowData:
    payload = _raw(follow.payload, "payload", limits.PAYLOAD_BYTES_MAX)
    return FollowData(kind=follow.kind, payload=payload, priority=follow.priority, after_ms=follow.after_ms)


def _frame(data: OutcomeData, files: Mapping[str, bytes]) -> Frame:
    return Frame(message(data), tuple(bytes(files[name]) for name in sorted(files)))


def _raw(value: Json, what: str, bytes_max: int = limits.RESULT_BYTES_MAX) -> msgspec.Raw:
    return msgspec.Raw(canonical(value, bytes_max, what).encode("utf-8"))


def _value(raw: msgspec.Raw, bytes_max: int) -> Any:  # noqa: ANN401 - any JSON
    try:
        value = msgspec.json.decode(raw)
        canonical(value, bytes_max, "value of a hand")
    except (msgspec.MsgspecError, RecursionError, PayloadError) as error:
        raise _garbled(str(error)) from error
    return value


def _files(names: list[str], attachments: tuple[bytes, ...]) -> dict[str, bytes]:
    if len(names) != len(attachments) or len(set(names)) != len(names):
        why = f"{len(names)} names and {len(attachments)} attachments"
        raise _garbled(why)
    if any(len(content) > limits.FILE_BYTES_MAX for content in attachments):
        why = f"a file is over {limits.FILE_BYTES_MAX} bytes"
        raise _garbled(why)
    return dict(zip(names, attachments, strict=True))


def _cut(text: str) -> str:
    return text.encode("utf-8", "replace").decode("utf-8")[: limits.TEXT_CHARS_MAX]


def _garbled(why: str) -> FrameGarbledError:
    return FrameGarbledError(f"the hand's answer cannot be understood: {why}"[: limits.TEXT_CHARS_MAX])
