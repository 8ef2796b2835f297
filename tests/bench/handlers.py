"""The kinds of job of the bench, as a vendor would write them."""

from __future__ import annotations

import os
import signal
import socket
import time
from typing import Any

from appliance import Context, Done, Folded, Output, Part, Split, job


@job("bench.noop", time_limit_ms=60_000)
def noop(_context: Context, _payload: Any) -> Done:  # noqa: ANN401 - whatever it is given
    """Do nothing."""
    return Done(1)


@job("bench.mark", time_limit_ms=60_000)
def mark(context: Context, payload: Any) -> Done:  # noqa: ANN401 - an address
    """Tell the address when this started."""
    _tell(time.clock_gettime_ns(time.CLOCK_BOOTTIME), context, payload)
    return Done(None)


@job("bench.hold", time_limit_ms=600_000)
def hold(context: Context, payload: Any) -> Done:  # noqa: ANN401 - an address
    """Tell the address when this started; a first attempt then works until it is killed."""
    _tell(time.clock_gettime_ns(time.CLOCK_BOOTTIME), context, payload)
    while context.attempt == 1:
        signal.pause()
    return Done(None)


def _tell(now_ns: int, context: Context, address: str) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as mouth:
        mouth.sendto(f"{now_ns} {context.job_id} {context.attempt} {os.getpid()}".encode(), address)


def cut(context: Context, payload: Any) -> Done:  # noqa: ANN401 - how large
    """A part: a file of so many bytes."""
    return Done(context.ordinal, files={"piece": bytes(payload["bytes"])})


def lay(_context: Context, _payload: Any, state: Any, part: Part) -> Folded:  # noqa: ANN401 - a count
    """The fold: a few bytes a part."""
    return Folded(state + part.files["piece"].stat().st_size, output=b"part")


def end(_context: Context, _payload: Any, state: Any, _output: Output) -> Done:  # noqa: ANN401 - a count
    """The conclusion."""
    return Done(state)


@job("bench.split", part=cut, fold=lay, conclude=end)
def split(_context: Context, payload: Any) -> Split:  # noqa: ANN401 - how many
    """Split into parts that each keep a file."""
    return Split(count=payload["parts"], window=payload["window"], state=0)


ALL = (noop, mark, hold, split)
