"""What a handler returns: the thing that should happen next, as a value.

A handler never touches the ledger.  It returns one of these (or a plain value, which means ``Done(value)``), and the worker
commits it together with its event, its follow-ups and the claim of the next job.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, TypeAlias

Json: TypeAlias = "bool | int | float | str | Sequence[Json] | Mapping[str, Json] | None"
OnDead: TypeAlias = Literal["bury", "fold"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Follow:
    """A job to be submitted in the transaction that finishes this one.

    Its identity derives from (parent, ordinal), so a repeated attempt of the parent asks for the same follow-ups.
    """

    kind: str
    payload: Json = None
    priority: int = 0
    after_ms: int = 0


@dataclass(frozen=True, slots=True)
class Done:
    """Finished.  ``files`` are bytes by plain name, kept beside the result with their SHA-256."""

    result: Json = None
    then: Sequence[Follow] = ()
    files: Mapping[str, bytes] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Retry:
    """Failed, and worth another attempt: counts a failure.  Without ``after_ms`` the back-off of the kind decides."""

    why: str
    after_ms: int | None = None
    error_class: str = "retry"


@dataclass(frozen=True, slots=True)
class Snooze:
    """Not yet: come back in ``after_ms`` milliseconds.  Counts no failure."""

    after_ms: int
    why: str = ""


@dataclass(frozen=True, slots=True)
class Reject:
    """The input is invalid; a person may correct it."""

    what: str


@dataclass(frozen=True, slots=True)
class Unclear:
    """A person must decide."""

    question: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Split:
    """Work that is done in ``count`` parts, at most ``window`` of them in the ledger at a time, folded strictly in order.

    ``state`` is what the first fold starts from.  ``files`` are shared with every part, read-only (``context.files``).
    A part whose failures are used up either buries the job (``on_dead="bury"``) or is folded as missing (``"fold"``).
    """

    count: int
    window: int
    state: Json = None
    files: Mapping[str, bytes] = field(default_factory=dict)
    on_dead: OnDead = "bury"


@dataclass(frozen=True, slots=True)
class Folded:
    """One part was folded: the state to go on from, and the bytes to append to the job's output file."""

    state: Json
    output: bytes = b""


@dataclass(frozen=True, slots=True)
class Redo:
    """The part offered to the fold does not fit: measure it again with these ``params``."""

    params: Mapping[str, Json]


Outcome: TypeAlias = Done | Retry | Snooze | Reject | Unclear | Split
FoldOutcome: TypeAlias = Folded | Redo | Retry | Reject | Unclear


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A measured part as the fold sees it.  A dead one has ``error`` and no result."""

    ordinal: int
    result: Json = None
    files: Mapping[str, Path] = field(default_factory=dict)
    params: Mapping[str, Json] = field(default_factory=dict)
    error: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """The finished output file of a split job."""

    path: Path
    size_bytes: int
    sha256: str
