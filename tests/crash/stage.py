"""A program for the supervisor, run as a process of its own: ``python -m tests.crash.stage FOLDER [NOTIFY_ADDRESS]``.

The plan is read from ``FOLDER/plan.json`` by ``prepare``, so a test can change it and send SIGHUP; a plan of ``{"finding": ...}``
is a ``prepare`` that fails.  Each child leaves a file ``FOLDER/NAME.PID`` when it is at work, with its start time.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

from appliance.clock import SYSTEM, BootInstant
from appliance.errors import SettingsError
from appliance.log import Log
from appliance.runtime.hands.hands import Watch
from appliance.runtime.supervision.causes import Cause
from appliance.runtime.supervision.policy import Pace
from appliance.runtime.supervision.program import Kind, Program
from appliance.runtime.supervision.rescue import Held
from appliance.runtime.supervision.seats import Seat
from appliance.runtime.supervision.supervisor import supervise
from appliance.site import boot
from tests.crash import calling

SLEEPER = "import signal, sys; open(sys.argv[1], 'w').close(); signal.pause()"
SILENT_MS = 800
QUICK = Pace(first_ms=20, most_ms=2_000, window_ms=120_000)


def leave_word(seat: Seat, *, ready: bool = True) -> None:
    """Tell the supervisor that the child is at work, and then show the test that it is there."""
    if ready:
        seat.ready()
    folder = Path(seat.argument["folder"])
    (folder / f"{seat.name}.{seat.process.pid}").write_text(str(seat.process.start_ticks))


def steady(seat: Seat) -> int:
    """Beat until asked to stop."""
    leave_word(seat)
    while not seat.wait(ms=50):
        seat.beat()
    return 0


def stubborn(seat: Seat) -> int:
    """Not hear that it should stop."""
    leave_word(seat)
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
    while True:
        signal.sigwait({signal.SIGUSR2})


def crasher(seat: Seat) -> int:
    """Die at once, without a word to the supervisor."""
    leave_word(seat, ready=False)
    return int(seat.argument.get("code", 3))


def mended(seat: Seat) -> int:
    """Die at once until what it needs is there; then be steady."""
    return steady(seat) if (Path(seat.argument["folder"]) / "line").exists() else 75


def slow(seat: Seat) -> int:
    """Take twice as long to start as it may be silent later."""
    return 0 if seat.wait(ms=2 * SILENT_MS) else steady(seat)


def raiser(seat: Seat) -> int:
    """Crash with an exception."""
    leave_word(seat)
    message = "as planned"
    raise RuntimeError(message)


def mother(seat: Seat) -> int:
    """Start one process in its own group, and one that leaves it, and both outlive it if they can."""
    folder = Path(seat.argument["folder"])
    near = subprocess.Popen([sys.executable, "-c", SLEEPER, str(folder / "near.up")])
    far = subprocess.Popen([sys.executable, "-c", SLEEPER, str(folder / "far.up")], start_new_session=True)
    (folder / "near.pid").write_text(str(near.pid))
    (folder / "far.pid").write_text(str(far.pid))
    return steady(seat)


def wordless(seat: Seat) -> int:
    """Forget to return a code."""
    leave_word(seat)
    return None  # type: ignore[return-value]


def maker(seat: Seat) -> int:
    """Have a hand wait for ever."""
    hand = calling.hand()
    leave_word(seat)
    scratch = Path(seat.argument["folder"])
    hand.perform(calling.call("bad.sleep", scratch, str(scratch / "hand.pid")), Watch(limit_ms=600_000, wake=[seat.stop]))
    return 0


def steward(seat: Seat) -> int:
    """Keep every line about deaths, and ask for the kill that the test wants."""
    assert seat.deaths is not None
    folder = Path(seat.argument["folder"])
    leave_word(seat)
    asked: set[str] = set()
    readable: list[int] = []
    while seat.stop not in readable:
        readable = seat.wait(seat.deaths, ms=50)
        seat.beat()
        if seat.deaths in readable:
            with (folder / f"deaths.{seat.process.pid}").open("ab") as file:
                file.write(os.read(seat.deaths, 65_536))
        for wish in folder.glob("kill.*"):
            if wish.name not in asked:
                asked.add(wish.name)
                pid = int(wish.suffix[1:])
                seat.ask_kill(pid, boot.start_ticks(pid) or 0, Cause.TIME_LIMIT)
    return 0


def prepare(folder: Path) -> bytes:
    """The plan in the folder, or the finding in its place."""
    raw = (folder / "plan.json").read_bytes()
    wanted = json.loads(raw)
    if "finding" in wanted:
        raise SettingsError(wanted["finding"])
    if "crash" in wanted:
        os.kill(os.getpid(), signal.SIGSEGV)
    return raw


def held(folder: Path) -> Held | None:
    """Who is inside the turnstile of this test, by a file that is replaced whole."""
    try:
        pid, start, ticket, since = map(int, (folder / "held").read_text().split())
    except FileNotFoundError:
        return None
    return Held(pid=pid, start_ticks=start, ticket=ticket, since=BootInstant(since))


def program(folder: Path, address: str | None) -> Program:
    """All kinds of the tests."""
    return Program(
        kinds=(
            Kind(name="steady", main=steady, beats=True, beat_missed_ms=SILENT_MS, pace=QUICK),
            Kind(name="mended", main=mended, beats=True, pace=QUICK),
            Kind(name="slow", main=slow, beats=True, beat_missed_ms=SILENT_MS, pace=QUICK),
            Kind(name="stubborn", main=stubborn, pace=QUICK),
            Kind(name="crasher", main=crasher, pace=QUICK),
            Kind(name="raiser", main=raiser, pace=QUICK),
            Kind(name="mother", main=mother, beats=True, pace=QUICK),
            Kind(name="wordless", main=wordless, pace=QUICK),
            Kind(name="maker", main=maker, pace=QUICK),
            Kind(name="steward", main=steward, beats=True, wants_deaths=True, leaves_last=True, pace=QUICK),
        ),
        prepare=lambda _seat: prepare(folder),
        deaths_path=folder / "deaths",
        held=lambda: held(folder),
        stop_ms=2_000,
        turn_held_ms=500,
        notify_address=address,
        watchdog_ms=300 if address else None,
    )


if __name__ == "__main__":
    sys.exit(
        supervise(program(Path(sys.argv[1]), sys.argv[2] if sys.argv[2:] else None), clock=SYSTEM, log=Log(wall_ms=SYSTEM.wall_ms))
    )
