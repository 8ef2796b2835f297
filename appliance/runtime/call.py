"""A call of a handler's function, as a value: made in the worker, carried out in the same process or in a hand."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from appliance import errors
from appliance.coordination import flaws
from appliance.coordination.handlers import Context, Handler
from appliance.coordination.outcomes import Json, Output, Part
from appliance.runtime.kind_argument import KindArgument

Function = Literal["work", "part", "fold", "conclude"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """Which function of which handler, with what.  ``state`` and ``subject`` belong to a fold and its conclusion."""

    function: Function
    kind: KindArgument
    context: Context
    payload: Json
    state: Json = None
    subject: Part | Output | None = None


Perform = Callable[[Call], Any]


def in_place(handlers: Mapping[tuple[str, str], Handler]) -> Perform:
    """Calls the handlers, which are known by (module, kind), in this process."""

    def perform(call: Call) -> Any:  # noqa: ANN401 - what a handler returns is judged by the caller
        return carry_out(handlers[call.kind.module, call.kind.kind], call)

    return perform


def carry_out(handler: Handler, call: Call) -> Any:  # noqa: ANN401 - what a handler returns is judged by the caller
    """Call the function that the call names.

    Raises whatever the handler raises, and ``PayloadError`` for an outcome that is none.
    """
    returned = _call(handler, call)
    flaws.refuse(returned)
    return returned


def _call(handler: Handler, call: Call) -> Any:  # noqa: ANN401 - as above
    if call.function == "work":
        return handler.function(call.context, call.payload)
    if handler.part is None or handler.fold is None or handler.conclude is None:
        message = f"the kind {handler.kind!r} returned Split, and declares no part, fold and conclude"
        raise errors.HandlerError(message)
    if call.function == "part":
        return handler.part(call.context, call.payload)
    if isinstance(call.subject, Part):
        return handler.fold(call.context, call.payload, call.state, call.subject)
    if isinstance(call.subject, Output):
        return handler.conclude(call.context, call.payload, call.state, call.subject)
    message = f"a call of {call.function} without its part or output"
    raise errors.HandlerError(message)
