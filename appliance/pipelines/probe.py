"""A job that does nothing but come back: whether the whole way works, from submit to result."""

from __future__ import annotations

from typing import Any

from appliance import Context, Done, job


@job("probe", time_limit_ms=10_000)
def probe(context: Context, payload: Any) -> Done:  # noqa: ANN401 - whatever it is given comes back
    """Give the payload back."""
    return Done({"payload": payload, "attempt": context.attempt})
