"""What is wrong with an outcome before anybody acts on it: a handler may put anything into its fields.

Sizes and JSON are judged where values are encoded.  Here are the types, as a table, so that no outcome of a handler can raise in
the middle of a transaction, where it would end the worker and not only its own attempt.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, get_args

from appliance import errors, limits
from appliance.coordination.outcomes import Done, Folded, Follow, OnDead, Redo, Reject, Retry, Snooze, Split, Unclear


@dataclass(frozen=True, slots=True, kw_only=True)
class Sort:
    """A sort of value: how it is called, and whether a value is of it."""

    name: str
    has: Callable[[Any], bool]


def _whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _files(value: object) -> bool:
    return isinstance(value, Mapping) and all(
        isinstance(name, str) and isinstance(content, bytes | bytearray | memoryview) for name, content in value.items()
    )


def _follows(value: object) -> bool:
    return isinstance(value, list | tuple) and len(value) <= limits.FOLLOWS_MOST and all(isinstance(each, Follow) for each in value)


TEXT: Final = Sort(name="text", has=lambda value: isinstance(value, str))
WHOLE: Final = Sort(name="a whole number", has=_whole)
WHOLE_OR_NONE: Final = Sort(name="a whole number or None", has=lambda value: value is None or _whole(value))
BYTES: Final = Sort(name="bytes", has=lambda value: isinstance(value, bytes | bytearray | memoryview))
FILES: Final = Sort(name="bytes by name", has=_files)
FOLLOWS: Final = Sort(name=f"a list of at most {limits.FOLLOWS_MOST} Follow", has=_follows)
PARAMS: Final = Sort(name="an object", has=lambda value: isinstance(value, Mapping))
END: Final = Sort(name=f"one of {', '.join(get_args(OnDead))}", has=lambda value: value in get_args(OnDead))

FIELDS: Final[Mapping[type, tuple[tuple[str, Sort], ...]]] = {
    Done: (("then", FOLLOWS), ("files", FILES)),
    Follow: (("kind", TEXT), ("priority", WHOLE), ("after_ms", WHOLE)),
    Retry: (("why", TEXT), ("after_ms", WHOLE_OR_NONE), ("error_class", TEXT)),
    Snooze: (("after_ms", WHOLE), ("why", TEXT)),
    Reject: (("what", TEXT),),
    Unclear: (("question", TEXT),),
    Split: (("count", WHOLE), ("window", WHOLE), ("files", FILES), ("on_dead", END)),
    Folded: (("output", BYTES),),
    Redo: (("params", PARAMS),),
}


def refuse(outcome: Any) -> None:  # noqa: ANN401 - a handler may return anything; what is no outcome is a plain result
    """Raise ``PayloadError`` for an outcome with a field of a wrong type, in it or in a follow-up of it."""
    for field, sort in FIELDS.get(type(outcome), ()):
        value = getattr(outcome, field)
        if not sort.has(value):
            message = f"{type(outcome).__name__}.{field} is {sort.name}, not {value!r:.200}"
            raise errors.PayloadError(message)
    if type(outcome) is Done:
        for follow in outcome.then:
            refuse(follow)
