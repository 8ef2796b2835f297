"""The values that pass between the ledger and those who work: what is submitted, what was claimed, and the right to act on it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, NewType

from appliance import errors, limits
from appliance.coordination.outcomes import Json

JobId = NewType("JobId", int)
Fence = NewType("Fence", int)
Holder = NewType("Holder", str)
Noun = Literal["job", "part", "split"]
CANONICAL: Final = json.JSONEncoder(ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Submission:
    """Work that somebody asks for.

    ``work_id`` names the work within its kind; without one it is the digest of the payload, so asking twice is asking once.
    ``version`` asks for one processing version; ``again`` asks for a further round of work that was done before.
    """

    kind: str
    payload: Json = None
    work_id: str | None = None
    version: int | None = None
    again: bool = False
    priority: int = 0
    after_ms: int = 0
    source: str | None = None
    correlation: str | None = None
    parent_id: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Submitted:
    """The answer: the job that stands for the work, whether it is new, and its state."""

    id: JobId
    state: str
    new: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Lease:
    """The right to act on a job, a part or a fold: its key and its fence.

    ``attempt`` is the job's; for a part and a fold it says which split they belong to, and ``fence`` is their own.
    ``gathers``: the job was split, and a part's or the fold's lease was proven in this transaction; the lease of the attempt that
    split it ended with the split.
    """

    noun: Noun
    id: JobId
    attempt: int
    fence: int
    ordinal: int | None = None
    gathers: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class FilePlace:
    """A file of an attempt: the row that names it.

    ``ordinal`` is -1 for the job's own files.  ``part_attempt`` is the fence of the part or fold that wrote it, or 0.
    """

    id: JobId
    attempt: int
    ordinal: int
    part_attempt: int
    name: str
    size_bytes: int
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Folding:
    """What a claimed fold starts from: its place, what it carries, its output so far, and the parts that have an answer."""

    parts: int
    folded: int
    carried: Json
    output_fence: int
    output_bytes: int
    answers: tuple[Answered, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """A part with an answer, in its place in the order."""

    ordinal: int
    dead: bool
    attempt: int
    params: dict[str, Json]
    result: Json
    error: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Claimed:
    """A lease with all that its handler needs."""

    lease: Lease
    kind: str
    version: int
    rank: int
    payload: Json
    failures: int
    failures_max: int
    params: dict[str, Json] = field(default_factory=dict)
    files: tuple[FilePlace, ...] = ()
    folding: Folding | None = None


class Encoded(str):  # noqa: SLOT000 - nothing is put into it
    """A value as the canonical JSON text that will be committed: whoever has the value may go on changing it."""


def encode(value: Json, bytes_max: int, what: str) -> str:
    """Canonical JSON: sorted keys, no white space, no NaN.  What is encoded already is taken as it is.

    Raises ``PayloadError`` for a value that is not JSON, nests too deep, or is over ``bytes_max`` bytes of UTF-8.
    """
    if isinstance(value, Encoded):
        return value
    try:
        text = CANONICAL.encode(value)
        size = len(text.encode("utf-8"))
    except (TypeError, ValueError, RecursionError, UnicodeEncodeError) as error:
        message = f"the {what} is not JSON: {error}"
        raise errors.PayloadError(message) from error
    if size > bytes_max:
        message = f"the {what} has {size} bytes, {bytes_max} are allowed: put large data into a file and name its path"
        raise errors.PayloadError(message)
    if text.count("[") + text.count("{") > limits.JSON_DEPTH_MOST and _deeper(value, limits.JSON_DEPTH_MOST):
        message = f"the {what} nests deeper than {limits.JSON_DEPTH_MOST}"
        raise errors.PayloadError(message)
    return text


def _deeper(value: Json, most: int) -> bool:
    """Whether lists and objects stand inside each other more than ``most`` times: what reads it may have no room to go deeper."""
    if not isinstance(value, Mapping | list | tuple):
        return False
    return most == 0 or any(_deeper(inner, most - 1) for inner in (value.values() if isinstance(value, Mapping) else value))


def digest(text: str) -> str:
    """The SHA-256 of canonical JSON, in hexadecimal."""
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def is_text(text: str) -> bool:
    """Whether a string is Unicode text; one with lone surrogates cannot be stored."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def cut(text: str | None) -> str | None:
    """A text bounded for the ledger, with no lone surrogates."""
    if text is None:
        return None
    clean = text.encode("utf-8", "replace").decode("utf-8")
    return clean if len(clean) <= limits.TEXT_CHARS_MAX else clean[: limits.TEXT_CHARS_MAX - 1] + "…"
