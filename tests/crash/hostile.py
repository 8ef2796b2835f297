"""Handlers that do in a hand whatever a decoder gone bad might do."""

from __future__ import annotations

import ctypes
import os
import resource
import signal
import stat
import struct
import subprocess
import sys
from pathlib import Path

import appliance
from appliance import Context, Done, Folded, Follow, Output, Part, Split, job
from appliance.coordination.outcomes import Json


@job("good.answer")
def answer(context: Context, payload: Json) -> Done:
    """Say who answers, with a file and a follow-up."""
    print("this is no answer")  # noqa: T201 - that is the test
    context.progress(1, 2)
    context.progress(2, 2)
    return Done(
        {"pid": os.getpid(), "payload": payload, "attempt": context.attempt},
        then=[Follow(kind="good.answer")],
        files={"a.txt": b"x" * 100_000},
    )


@job("good.plain")
def plain(context: Context, payload: Json) -> Json:
    """Return the payload itself."""
    return payload


def part(context: Context, payload: Json) -> Json:
    """Measure a part."""
    return {"ordinal": context.ordinal, "params": dict(context.params)}


def fold(context: Context, payload: Json, state: list[Json], part: Part) -> Folded:
    """Fold a part."""
    return Folded([*state, part.ordinal, part.result, part.files["f"].name], output=b"folded")


def conclude(context: Context, payload: Json, state: Json, output: Output) -> Json:
    """Conclude the fold."""
    return [state, output.path.name, output.size_bytes]


@job("bad.stall")
def stall(context: Context, payload: Json) -> None:
    """Show progress for a while, and then hang, as a decoder does that waits for a lock of its own."""
    for done in range(3):
        context.progress(done, 10)
    signal.pause()


@job("good.split", part=part, fold=fold, conclude=conclude)
def split(context: Context, payload: Json) -> Split:
    """Split into parts."""
    return Split(count=7, window=3, state=[], files={"shared": b"s"})


@job("good.facts")
def facts(context: Context, payload: Json) -> Json:
    """What the process sees of itself."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return {
        "environment": sorted(os.environ),
        "no_new_privileges": next(line.split()[1] for line in lines if line.startswith("NoNewPrivs")),
        "core": resource.getrlimit(resource.RLIMIT_CORE)[1],
        "memory": resource.getrlimit(resource.RLIMIT_AS)[1],
        "group": os.getpgrp() == os.getpid(),
        "descriptors": len(os.listdir("/proc/self/fd")),
        "engine": "apsw" in sys.modules,
        "program": str(appliance.__file__),
    }


@job("bad.raise")
def raising(context: Context, payload: Json) -> None:
    """Raise."""
    message = "as planned"
    raise ValueError(message)


@job("bad.result")
def unwritable(context: Context, payload: Json) -> Done:
    """Return what is no JSON."""
    return Done(object())  # type: ignore[arg-type]


@job("bad.memory")
def memory(context: Context, payload: Json) -> int:
    """Take more memory than there is."""
    return len(bytearray(8 << 30))


@job("bad.grow")
def grow(context: Context, payload: Json) -> int:
    """Keep what was taken."""
    globals()["KEPT"] = b"x" * (100 << 20)
    return os.getpid()


@job("bad.cpu")
def cpu(context: Context, payload: Json) -> None:
    """Go on for ever."""
    while True:
        pass


@job("bad.sleep")
def sleep(context: Context, payload: Json) -> None:
    """Wait for ever."""
    if payload:
        Path(str(payload)).write_text(str(os.getpid()))
    while True:
        signal.pause()


@job("bad.crash")
def crash(context: Context, payload: Json) -> None:
    """Read from nowhere."""
    ctypes.string_at(0)


@job("bad.exit")
def leave(context: Context, payload: Json) -> None:
    """End the process as if all were well."""
    os._exit(0)


@job("bad.file")
def big_file(context: Context, payload: Json) -> None:
    """Write a file over the bound."""
    with (context.scratch / "big").open("wb") as file:
        file.truncate(2 << 30)


@job("bad.print")
def chatter(context: Context, payload: Json) -> None:
    """Never stop talking."""
    while True:
        os.write(1, b"la" * 30_000)


def answers() -> int:
    """The descriptor on which answers go out, as a hostile decoder would find it."""
    others = [int(name) for name in os.listdir("/proc/self/fd") if int(name) > 2 and Path(f"/proc/self/fd/{name}").exists()]
    return next(descriptor for descriptor in others if stat.S_ISFIFO(os.fstat(descriptor).st_mode) and writable(descriptor))


def writable(descriptor: int) -> bool:
    """Whether a descriptor was opened for writing."""
    text = Path(f"/proc/self/fdinfo/{descriptor}").read_text()
    return int(next(line.split()[1] for line in text.splitlines() if line.startswith("flags:")), 8) & os.O_ACCMODE == os.O_WRONLY


@job("bad.frames")
def wrong_frames(context: Context, payload: Json) -> None:
    """Answer in other words than agreed."""
    header = b'{"is":"progress","done":1,"total":2}'
    lies = {
        "noise": b"HTTP/1.1 200 OK\r\n\r\n",
        "size": struct.pack("<4sIIQ", b"AFR1", 10, 1, 1 << 60),
        "header": struct.pack("<4sII", b"AFR1", 1 << 31, 0),
        "json": struct.pack("<4sII", b"AFR1", 5, 0) + b"[[[[[",
        "type": struct.pack("<4sII", b"AFR1", 17, 0) + b'{"is":"surprise"}',
        "ready": struct.pack("<4sII", b"AFR1", 14, 0) + b'{"is":"ready"}',
        "flood": (struct.pack("<4sII", b"AFR1", len(header), 0) + header) * 100_001,
    }
    rest = memoryview(lies[str(payload)])
    descriptor = answers()
    while rest:
        rest = rest[os.write(descriptor, rest) :]
    signal.pause()


@job("bad.early")
def early(context: Context, payload: Json) -> None:
    """Answer twice, the second time for a job that nobody has asked for yet."""
    header = b'{"is":"reject","what":"forged"}'
    os.write(answers(), (struct.pack("<4sII", b"AFR1", len(header), 0) + header) * 2)
    signal.pause()


@job("bad.closed")
def closed(context: Context, payload: Json) -> None:
    """Close every pipe and live on."""
    os.closerange(0, 100)
    while True:
        signal.pause()


@job("bad.mother")
def mother(context: Context, payload: Json) -> None:
    """Leave a process behind."""
    started = subprocess.Popen([sys.executable, "-c", "import signal; signal.pause()"])
    Path(str(payload)).write_text(str(started.pid))
    os._exit(1)
