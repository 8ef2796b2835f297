"""Calls as data: what a worker asks of a hand, and how the hand is set up before."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from appliance import limits
from appliance.coordination.handlers import Context
from appliance.coordination.outcomes import Output, Part
from appliance.errors import HandlerError
from appliance.runtime.call import Call, Function
from appliance.runtime.hands.frames import Frame
from appliance.runtime.kind_argument import KindArgument


class Setup(msgspec.Struct, frozen=True, kw_only=True):
    """What a hand is, for its whole life: the modules it may be asked for, and the bounds it locks itself into.

    ``cpu_ms`` bounds the CPU time of one call, 0 stands for twice the kind's time limit.
    """

    modules: list[str]
    memory_bytes_max: int = 1 << 30
    cpu_ms: int = 0
    file_bytes_max: int = limits.FILE_BYTES_MAX
    descriptors_most: int = limits.HAND_DESCRIPTORS_MOST


class PartData(msgspec.Struct, frozen=True, kw_only=True):
    """A ``Part``; the files are paths."""

    ordinal: int
    result: Any
    files: dict[str, str]
    params: dict[str, Any]
    error: str | None


class OutputData(msgspec.Struct, frozen=True, kw_only=True):
    """An ``Output``."""

    path: str
    size_bytes: int
    sha256: str


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """A ``Call`` without what cannot cross a pipe."""

    function: Function
    kind: KindArgument
    job_id: int
    attempt: int
    scratch: str
    ordinal: int | None
    params: dict[str, Any]
    files: dict[str, str]
    payload: Any
    state: Any
    part: PartData | None = None
    output: OutputData | None = None


def encode_setup(setup: Setup) -> Frame:
    """The first frame that a hand reads."""
    return Frame(msgspec.json.encode(setup))


def decode_setup(frame: Frame) -> Setup:
    """The first frame, in the hand."""
    return msgspec.json.decode(frame.header, type=Setup)


def encode(call: Call) -> Frame:
    """The call as a frame."""
    subject, context = call.subject, call.context
    part = _part(subject) if isinstance(subject, Part) else None
    output = (
        OutputData(path=str(subject.path), size_bytes=subject.size_bytes, sha256=subject.sha256)
        if isinstance(subject, Output)
        else None
    )
    request = Request(
        function=call.function,
        kind=call.kind,
        job_id=context.job_id,
        attempt=context.attempt,
        scratch=str(context.scratch),
        ordinal=context.ordinal,
        params=dict(context.params),
        files={name: str(path) for name, path in context.files.items()},
        payload=call.payload,
        state=call.state,
        part=part,
        output=output,
    )
    return Frame(msgspec.json.encode(request))


def decode(frame: Frame, progress: Callable[[int, int], None]) -> Call:
    """The call, in the hand; its context tells of progress by the given function."""
    request = msgspec.json.decode(frame.header, type=Request)
    context = Context(
        job_id=request.job_id,
        kind=request.kind.kind,
        attempt=request.attempt,
        scratch=Path(request.scratch),
        ordinal=request.ordinal,
        params=request.params,
        files={name: Path(path) for name, path in request.files.items()},
        progress=progress,
    )
    return Call(
        function=request.function,
        kind=request.kind,
        context=context,
        payload=request.payload,
        state=request.state,
        subject=_subject(request),
    )


def _part(part: Part) -> PartData:
    return PartData(
        ordinal=part.ordinal,
        result=part.result,
        files={name: str(path) for name, path in part.files.items()},
        params=dict(part.params),
        error=part.error,
    )


def _subject(request: Request) -> Part | Output | None:
    part, output = request.part, request.output
    if part is not None:
        files = {name: Path(path) for name, path in part.files.items()}
        return Part(ordinal=part.ordinal, result=part.result, files=files, params=part.params, error=part.error)
    if output is not None:
        return Output(path=Path(output.path), size_bytes=output.size_bytes, sha256=output.sha256)
    if request.function in ("fold", "conclude"):
        message = f"a call of {request.function} without its part or output"
        raise HandlerError(message)
    return None
