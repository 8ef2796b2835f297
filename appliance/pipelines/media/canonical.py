"""One way to write JSON, so that equal values are equal bytes: sorted keys, no spaces, ASCII, no floats, a final newline."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import TypeAlias

Json: TypeAlias = "bool | int | str | Sequence[Json] | Mapping[str, Json] | None"


def encode(value: Json) -> bytes:
    """The canonical bytes; raises ``TypeError`` for a float (their formats differ between writers)."""
    refuse_floats(value)
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False).encode("ascii") + b"\n"


def refuse_floats(value: object) -> None:
    """Raise ``TypeError`` if there is a float anywhere in the value."""
    if isinstance(value, float):
        message = f"{value!r} is a float: reports hold integers and strings only"
        raise TypeError(message)
    if isinstance(value, Mapping):
        for inner in value.values():
            refuse_floats(inner)
    elif isinstance(value, (list, tuple)):
        for inner in value:
            refuse_floats(inner)


def digest(value: Json) -> str:
    """The SHA-256 of the canonical bytes, in hex."""
    return hashlib.sha256(encode(value)).hexdigest()
