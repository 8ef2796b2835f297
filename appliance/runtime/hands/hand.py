"""The inside of a hand: a fresh process that locks itself in, and then calls handlers for its worker until its pipe ends.

It holds no database, no secret and no payload but the one at work, since it was exec'd, not forked from the product's memory.
Before it imports a line of a handler's module it has tied its life to its worker's, given up gaining privileges, and bounded its
memory, CPU, files and descriptors.  What the handler prints goes to the noise pipe, so it cannot be taken for an answer.
"""

from __future__ import annotations

import contextlib
import faulthandler
import math
import os
import resource
import signal
import traceback
from collections.abc import Mapping
from typing import Any, Final

from appliance.clock import SYSTEM, BootInstant
from appliance.coordination.handlers import Handler
from appliance.coordination.outcomes import Done, Folded, Redo, Reject, Retry, Snooze, Split, Unclear
from appliance.errors import HandlerError, PayloadError
from appliance.runtime.call import carry_out
from appliance.runtime.hands import codec, frames, requests
from appliance.runtime.hands.frames import Decoder, Frame
from appliance.runtime.hands.requests import Setup
from appliance.runtime.loading import load_all
from appliance.runtime.supervision import kernel

OUTCOMES: Final = (Done, Retry, Snooze, Reject, Unclear, Split, Folded, Redo)
CHUNK: Final = 1 << 16
PROGRESS_MS: Final = 100
CPU_SHARE: Final = 2  # of the time limit: a call may keep two processors busy
TRACE_CHARS_MAX: Final = 2_000
OUT_OF_MEMORY: Final = Frame(codec.message(codec.OutOfMemory()))  # made beforehand, as there is no room for it then


class Pipes:
    """The way to the worker: whole frames, read and written in full."""

    def __init__(self, reader: int, writer: int) -> None:
        self._reader, self._writer = reader, writer
        self._decoder = Decoder()
        self._frames: list[Frame] = []

    def read(self) -> Frame | None:
        """The next frame, or None when the worker has closed its end."""
        while not self._frames:
            came = os.read(self._reader, CHUNK)
            if not came:
                return None
            self._frames += self._decoder.feed(came)
        return self._frames.pop(0)

    def write(self, frame: Frame) -> None:
        """Send a frame."""
        for piece in frames.encode(frame):
            rest = memoryview(piece)
            while rest:
                rest = rest[os.write(self._writer, rest) :]


class Telling:
    """Tells the worker of progress, not more often than it can matter."""

    def __init__(self, pipes: Pipes) -> None:
        self._pipes = pipes
        self._next = BootInstant(0)

    def __call__(self, done: int, total: int) -> None:
        """So many of so many."""
        now = SYSTEM.boot()
        if now >= self._next or done >= total:
            self._next = now + PROGRESS_MS
            self._pipes.write(Frame(codec.message(codec.Progress(done=int(done), total=int(total)))))


def main() -> int:
    """Serve the worker until its pipe ends; the exit code.  The entry has tied this process's life to the worker's already."""
    faulthandler.register(signal.SIGUSR1, file=2, all_threads=True, chain=False)
    pipes = take_pipes()
    first = pipes.read()
    if first is None:
        return 0
    setup = requests.decode_setup(first)
    lock_in(setup)
    try:
        handlers = load_all(setup.modules)
    except HandlerError as error:
        os.write(2, f"{error}\n".encode("utf-8", "replace"))
        return error.exit_code
    pipes.write(Frame(codec.message(codec.Ready())))
    with contextlib.suppress(BrokenPipeError):
        while (frame := pipes.read()) is not None:
            pipes.write(answer(handlers, frame, setup, Telling(pipes)))
    return 0


def take_pipes() -> Pipes:
    """Move the pipes out of the way of whoever prints: input becomes empty, output joins errors, all else is closed."""
    kept = [os.dup(0), os.dup(1)]
    empty = os.open(os.devnull, os.O_RDONLY)
    os.dup2(empty, 0)
    os.dup2(2, 1)
    for name in os.listdir("/proc/self/fd"):
        if int(name) > 2 and int(name) not in kept:  # noqa: PLR2004 - input, output and errors stay
            with contextlib.suppress(OSError):
                os.close(int(name))
    return Pipes(*kept)


def lock_in(setup: Setup) -> None:
    """Bound what this process can use, for good: it cannot raise a hard limit again."""
    kernel.renounce_privileges()
    for what, bound in (
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_AS, setup.memory_bytes_max),
        (resource.RLIMIT_FSIZE, setup.file_bytes_max),
        (resource.RLIMIT_NOFILE, setup.descriptors_most),
    ):
        hard = resource.getrlimit(what)[1]
        least = bound if hard == resource.RLIM_INFINITY else min(bound, hard)
        resource.setrlimit(what, (least, least))


def bound_cpu(limit_ms: int) -> None:
    """Give this call so much CPU time, on top of what the process has used; past it the kernel ends the process (SIGXCPU)."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    soft = math.ceil(used.ru_utime + used.ru_stime + limit_ms / 1000)
    resource.setrlimit(resource.RLIMIT_CPU, (soft, resource.RLIM_INFINITY))


def answer(handlers: Mapping[tuple[str, str], Handler], frame: Frame, setup: Setup, telling: Telling) -> Frame:
    """Carry out a call; whatever the handler does becomes an answer.  This is the bulkhead around handlers in a hand."""
    try:
        call = requests.decode(frame, telling)
        bound_cpu(setup.cpu_ms or CPU_SHARE * call.kind.time_limit_ms)
        return codec.encode(_outcome(carry_out(handlers[call.kind.module, call.kind.kind], call)))
    except MemoryError:
        return OUT_OF_MEMORY
    except PayloadError as error:
        return codec.encode(Retry(str(error), error_class="outcome.PayloadError"))
    except (Exception, SystemExit) as error:  # noqa: BLE001 - the bulkhead around handlers
        return codec.encode(Retry(_told(error), error_class=f"raised.{type(error).__name__}"))


def _outcome(returned: Any) -> codec.AnyOutcome:  # noqa: ANN401 - a handler may return anything
    return returned if isinstance(returned, OUTCOMES) else Done(returned)


def _told(error: BaseException) -> str:
    return "".join(traceback.format_exception(error))[-TRACE_CHARS_MAX:]
