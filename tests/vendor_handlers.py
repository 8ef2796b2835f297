"""A vendor's handlers, the bad ones: each kind does one thing that must not stop an appliance.

The payload names the files by which a test and a handler talk: ``log`` gets a line for each call that begins, ``gate`` is a fifo
that holds the handler until somebody opens it for writing.  Kinds that begin with ``locked.`` run in an isolated pool.
"""

from __future__ import annotations

import hashlib
import os
import select
import shutil
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, TypeAlias

from appliance import Context, Done, Folded, Follow, Output, Part, Redo, Reject, Retry, Snooze, Split, Unclear, job
from appliance.runtime.work.batch import Batch

Value: TypeAlias = Any  # JSON of the handler's own shape


def note(context: Context, payload: Value) -> Done:
    """Say that it began, and be done."""
    began(context, payload)
    return Done({"attempt": context.attempt})


def began(context: Context, payload: Value) -> None:
    """Add a line to the log of the payload: job, part, attempt, process, and the time since boot."""
    if isinstance(payload, dict) and "log" in payload:
        ordinal = -1 if context.ordinal is None else context.ordinal
        boot_ms = time.clock_gettime_ns(time.CLOCK_BOOTTIME) // 1_000_000
        line = f"{context.job_id} {ordinal} {context.attempt} {os.getpid()} {boot_ms}\n"
        descriptor = os.open(payload["log"], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        os.write(descriptor, line.encode("ascii"))
        os.close(descriptor)


def hold(context: Context, payload: Value) -> Done:
    """Wait at the gate; an attempt over ``until`` does not wait.  With ``keep``, keep a file."""
    began(context, payload)
    if context.attempt <= payload.get("until", 1_000):
        Path(payload["gate"]).read_bytes()
    files = {"kept": b"by attempt %d" % context.attempt} if payload.get("keep") else {}
    return Done({"attempt": context.attempt}, files=files)


def crash(context: Context, payload: Value) -> Done:
    """Die by the signal of the payload; an attempt over ``until`` lives."""
    began(context, payload)
    if context.attempt <= payload.get("until", 1_000):
        os.kill(os.getpid(), payload.get("signal", signal.SIGSEGV))
        signal.pause()
    return Done({"attempt": context.attempt})


def spin(context: Context, payload: Value) -> Done:
    """Never end."""
    began(context, payload)
    while True:
        pass


def polite(context: Context, payload: Value) -> Retry:
    """Look whether somebody asked to cancel it, and stop then."""
    began(context, payload)
    while not context.cancelled():
        select.select([], [], [], 0.01)
    return Retry("it was asked to stop")


def deaf(context: Context, payload: Value) -> Done:
    """Look at nothing."""
    began(context, payload)
    signal.pause()
    return Done()


def hog(context: Context, payload: Value) -> Done:
    """Take more memory than there is."""
    began(context, payload)
    return Done(len([bytearray(1 << 24) for _ in range(1 << 14)]))


def loud(context: Context, payload: Value) -> Done:
    """Print more than anybody reads."""
    for _ in range(payload):
        sys.stdout.write("noise " * 200 + "\n")
    return Done("heard")


def leave(context: Context, payload: Value) -> None:
    """End the process, in the way of the payload."""
    if payload == "sys.exit":
        sys.exit(0)
    os._exit(0)


def parting(context: Context, payload: Value) -> Done:
    """Leave something behind that ends the process after the work, and before its outcome is handed in."""
    began(context, payload)
    Batch.give = lambda _batch, _returned: os._exit(70)  # type: ignore[method-assign, assignment]
    return Done("gone")


def untidy(context: Context, payload: Value) -> Done:
    """Take its scratch folder away."""
    shutil.rmtree(context.scratch)
    return Done("tidy")


SAYINGS: Final[dict[str, Callable[[], Value]]] = {
    "retry": lambda: Retry("as asked", after_ms=0),
    "snooze": lambda: Snooze(3_600_000, "as asked"),
    "reject": lambda: Reject("as asked"),
    "unclear": lambda: Unclear("as asked?"),
    "follow": lambda: Done("led", then=[Follow(kind="note", payload=1), Follow(kind="note", payload=2)]),
    "plain": lambda: {"plain": 1},
    "nothing": lambda: None,
    # --- what cannot be kept ---
    "too large": lambda: Done("x" * (300 << 10)),
    "not a number": lambda: Done(float("nan")),
    "bytes": lambda: Done(b"bytes"),
    "a set": lambda: {1, 2},
    "itself": lambda: Done,
    "surrogate": lambda: Done("\udc80"),
    "deep": lambda: Done(_deep()),
    "huge number": lambda: Done(10**5_000),
    "unknown follow": lambda: Done("x", then=[Follow(kind="nobody.knows")]),
    "follow of a wrong kind": lambda: Done("x", then=[Follow(kind=5)]),  # type: ignore[arg-type]
    "follow of a wrong priority": lambda: Done("x", then=[Follow(kind="note", priority="high")]),  # type: ignore[arg-type]
    "follow of a wrong delay": lambda: Done("x", then=[Follow(kind="note", after_ms="soon")]),  # type: ignore[arg-type]
    "follow too large": lambda: Done("x", then=[Follow(kind="note", payload="x" * (300 << 10))]),
    "follow that is none": lambda: Done("x", then=[5]),  # type: ignore[list-item]
    "follows that are none": lambda: Done("x", then=5),  # type: ignore[arg-type]
    "retry without a word": lambda: Retry(None),  # type: ignore[arg-type]
    "retry at a word": lambda: Retry("x", after_ms="soon"),  # type: ignore[arg-type]
    "retry at half past": lambda: Retry("x", after_ms=0.5),  # type: ignore[arg-type]
    "retry of a wrong class": lambda: Retry("x", error_class=5),  # type: ignore[arg-type]
    "snooze at a word": lambda: Snooze("soon"),  # type: ignore[arg-type]
    "reject a number": lambda: Reject(5),  # type: ignore[arg-type]
    "unclear nothing": lambda: Unclear(None),  # type: ignore[arg-type]
    "file of text": lambda: Done("x", files={"name": "text"}),  # type: ignore[dict-item]
    "file elsewhere": lambda: Done("x", files={"../name": b""}),
    "file of a wrong name": lambda: Done("x", files={5: b""}),  # type: ignore[dict-item]
    "files that are none": lambda: Done("x", files=5),  # type: ignore[arg-type]
    "split by a word": lambda: Split(count="x", window=1),  # type: ignore[arg-type]
    "split into none": lambda: Split(count=0, window=1),
    "split with no fold": lambda: Split(count=1, window=1),
    "split with a wrong end": lambda: Split(count=1, window=1, on_dead="maybe"),  # type: ignore[arg-type]
    "folded": lambda: Folded("x"),
    "redo": lambda: Redo({}),
    "raise": lambda: _raised(ValueError("as asked")),
    "raise what cannot be shown": lambda: _raised(_Unshowable()),
    "raise an exit": lambda: _raised(SystemExit(3)),
    "raise a key": lambda: _raised(KeyboardInterrupt()),
}


class _Unshowable(Exception):  # noqa: N818 - a vendor's
    def __str__(self) -> str:
        message = "not even this"
        raise RuntimeError(message)


def _raised(error: BaseException) -> Value:
    raise error


def _deep() -> Value:
    value: Value = 0
    for _ in range(200):
        value = [value]
    return value


def say(context: Context, payload: Value) -> Value:
    """Come to the outcome of this name."""
    return SAYINGS[payload]()


def slices(context: Context, payload: Value) -> Split:
    """Split into parts."""
    return Split(count=payload["parts"], window=payload["window"], state=[0, ""], files={"seed": b"seed"})


def part(context: Context, payload: Value) -> Done | Retry | Reject:
    """Some bytes that depend on the ordinal alone; ``wait_ms`` is how long they take."""
    began(context, payload)
    if context.ordinal == payload.get("rejects"):
        return Reject("this part cannot be")
    if context.ordinal == payload.get("held") and context.attempt <= payload.get("until", 1_000):
        Path(payload["gate"]).read_bytes()
    select.select([], [], [], payload.get("wait_ms", 0) / 1_000)
    seed = context.files["seed"].read_bytes()
    content = hashlib.sha256(seed + str(context.ordinal).encode()).digest() * 32
    return Done(hashlib.sha256(content).hexdigest(), files={"content": content})


def fold(context: Context, payload: Value, state: Value, subject: Part) -> Folded | Retry:
    """Chain the parts, and put their bytes one after another."""
    count, chain = state
    if subject.ordinal != count:
        return Retry(f"part {subject.ordinal} came for {count}")
    content = subject.files["content"].read_bytes()
    return Folded([count + 1, hashlib.sha256(f"{chain}{subject.result}".encode()).hexdigest()], content)


def conclude(context: Context, payload: Value, state: Value, output: Output) -> Done:
    """The chain, and the digest of all bytes.  The first that comes to make the file ``mark`` waits at the gate."""
    files = {"chain": state[1].encode()}
    if "mark" in payload:
        files["holder"] = b"fence %d" % context.attempt
        if not Path(payload["mark"]).exists():
            Path(payload["mark"]).touch()
            Path(payload["gate"]).read_bytes()
    return Done({"chain": state[1], "sha256": output.sha256, "size": output.size_bytes}, files=files)


note_job = job("note")(note)
hold_job = job("hold", failures_max=20, backoff_ms=1)(hold)
crash_job = job("crash", failures_max=3, backoff_ms=1)(crash)
spin_job = job("spin", time_limit_ms=1_000, failures_max=1)(spin)
brief_job = job("brief", time_limit_ms=1_500, failures_max=3, backoff_ms=1)(hold)
polite_job = job("polite")(polite)
deaf_job = job("deaf")(deaf)
loud_job = job("loud")(loud)
leave_job = job("leave", failures_max=1)(leave)
parting_job = job("parting")(parting)
untidy_job = job("untidy", failures_max=1)(untidy)
say_job = job("say", failures_max=1)(say)
slices_job = job("slices", failures_max=50, backoff_ms=1, part=part, fold=fold, conclude=conclude)(slices)
locked_note = job("locked.note", pool="locked")(note)
locked_hold = job("locked.hold", pool="locked", failures_max=20, backoff_ms=1)(hold)
locked_crash = job("locked.crash", pool="locked", failures_max=3, backoff_ms=1)(crash)
locked_spin = job("locked.spin", pool="locked", time_limit_ms=1_000, failures_max=1)(spin)
locked_polite = job("locked.polite", pool="locked")(polite)
locked_deaf = job("locked.deaf", pool="locked")(deaf)
locked_hog = job("locked.hog", pool="locked", failures_max=1)(hog)
locked_loud = job("locked.loud", pool="locked", failures_max=1)(loud)
locked_leave = job("locked.leave", pool="locked", failures_max=1)(leave)
locked_untidy = job("locked.untidy", pool="locked", failures_max=1)(untidy)
locked_say = job("locked.say", pool="locked", failures_max=1)(say)
locked_slices = job("locked.slices", pool="locked", failures_max=50, backoff_ms=1, part=part, fold=fold, conclude=conclude)(slices)
