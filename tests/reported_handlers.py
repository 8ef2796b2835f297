"""Handlers in the shapes of reports: one that lets no other thread of its process run, one that must never run beside itself."""

from __future__ import annotations

import ctypes
import fcntl
import os
from pathlib import Path
from typing import Any, Final

from appliance import Context, Done, Reject, job
from tests.vendor_handlers import began

POLL: Final = ctypes.PyDLL(None).poll  # called without letting go of the interpreter's lock


def grip(context: Context, payload: Any) -> Done:  # noqa: ANN401 - JSON of the handler's own shape
    """Hold the interpreter for so many milliseconds: no other thread of the process gets a turn."""
    began(context, payload)
    POLL(None, 0, payload["ms"])
    return Done({"attempt": context.attempt})


def alone(context: Context, payload: Any) -> Done | Reject:  # noqa: ANN401 - as above
    """Wait at the gate, unless another is at work on the same thing."""
    descriptor = os.open(payload["lock"], os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return Reject("two at once")
    began(context, payload)
    Path(payload["gate"]).read_bytes()
    os.close(descriptor)
    return Done({"attempt": context.attempt})


grip_job = job("grip")(grip)
alone_job = job("alone", pool="locked", failures_max=20, backoff_ms=1)(alone)
