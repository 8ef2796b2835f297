"""Starting and ending the process of a hand.

It is exec'd by ``posix_spawn``: a fresh interpreter that shares nothing with the worker but three pipes, an environment that was
handed in name by name, and the list of places modules are imported from (which works from a source tree and from a single file).
It leads a process group, so that whatever it starts ends with it.  It dies with the thread that starts it: call from a thread that
lives as long as the worker.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from appliance import limits
from appliance.runtime.hands.frames import Decoder, Frame
from appliance.runtime.supervision import causes
from appliance.runtime.supervision.causes import Cause, Facts
from appliance.site import pressure

ENTRY: Final = """
import sys
sys.path[:] = sys.argv[2:]
from appliance.runtime.supervision.kernel import die_with
die_with(int(sys.argv[1]))
from appliance.runtime.hands.hand import main
sys.exit(main())
"""
CHUNK: Final = 1 << 16
PAGE_BYTES: Final = os.sysconf("SC_PAGE_SIZE")


@dataclass(slots=True, kw_only=True)
class HandProcess:
    """A hand's process and our ends of its pipes.  ``noise`` is the end of what it printed."""

    pid: int
    pidfd: int
    requests: int
    answers: int
    noises: int
    decoder: Decoder
    oom_kills: int
    frames: list[Frame] = field(default_factory=list)
    noise: bytearray = field(default_factory=bytearray)
    noise_bytes: int = 0
    noise_ended: bool = False
    served: int = 0

    def hear_answers(self) -> bool:
        """Take in what it answered; False when it will answer no more.  Raises ``FrameError``."""
        try:
            came = os.read(self.answers, CHUNK)
        except BlockingIOError:
            return True
        self.frames += self.decoder.feed(came)
        return bool(came)

    def hear_noise(self) -> bool:
        """Take in what it printed, and keep the end of it; False when there will be no more."""
        try:
            came = os.read(self.noises, CHUNK)
        except BlockingIOError:
            return True
        self.noise_bytes += len(came)
        self.noise += came
        del self.noise[: -limits.HAND_NOISE_BYTES_KEPT]
        self.noise_ended = not came
        return bool(came)

    def text(self) -> str:
        """The end of what it printed, as text."""
        return self.noise.decode("utf-8", "replace")

    def quiet(self) -> bool:
        """Whether it lives and has said nothing out of turn."""
        return not (self.frames or self.dead_within(0) or _readable(self.answers, 0))

    def hear_last_answers(self) -> None:
        """Take in what a dead one had still answered.  Raises ``FrameError``."""
        while _readable(self.answers, 0) and self.hear_answers():
            pass

    def resident_bytes(self) -> int:
        """How much memory it has in use (proc_pid_statm(5))."""
        try:
            return int(Path(f"/proc/{self.pid}/statm").read_bytes().split()[1]) * PAGE_BYTES
        except (FileNotFoundError, ProcessLookupError, IndexError):
            return 0

    def end(self, why: Cause | None) -> tuple[Cause, int]:
        """Reap it, with all that it started; cause and code.

        Without a reason it is given a moment to end by itself.  The group is killed while the zombie still holds its number.
        """
        if why is None and not self.dead_within(limits.KILL_GRACE_MS):
            why = Cause.GARBLED  # it closed its pipe, and lives on
        self._kill_group()
        self.dead_within(None)
        _, ended = os.waitpid(self.pid, 0)
        while self.noise_bytes < limits.HAND_NOISE_BYTES_MAX and _readable(self.noises, 0) and self.hear_noise():
            pass
        for descriptor in (self.pidfd, self.requests, self.answers, self.noises):
            os.close(descriptor)
        code = os.waitstatus_to_exitcode(ended)
        return causes.cause(code, Facts(killed_for=why, oom_kills=pressure.oom_kills() - self.oom_kills)), code

    def dead_within(self, ms: int | None) -> bool:
        """Wait so long, or without end, for its death; whether it is dead."""
        return _readable(self.pidfd, ms)

    def _kill_group(self) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, signal.SIGKILL)


def start(environment: Mapping[str, str], bytes_max: int) -> HandProcess:
    """Start the process of a hand; its environment is exactly the one given.

    Raises ``OSError`` when the machine has no room for it.
    """
    theirs: list[int] = []
    ours: list[int] = []
    try:
        for mine in (1, 0, 0):
            pair = os.pipe2(os.O_CLOEXEC)
            ours.append(pair[mine])
            theirs.append(pair[1 - mine])
        pid = os.posix_spawn(
            sys.executable,
            [sys.executable, "-I", "-X", "faulthandler", "-c", ENTRY, str(os.getpid()), *import_places()],
            dict(environment),
            file_actions=[(os.POSIX_SPAWN_DUP2, descriptor, number) for number, descriptor in enumerate(theirs)],
            setpgroup=0,
            setsigmask=[],
            setsigdef=[signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGPIPE],
        )
    except BaseException:
        _close(ours)
        raise
    finally:
        _close(theirs)
    for descriptor in ours:
        os.set_blocking(descriptor, False)
    requests, answers, noises = ours
    return HandProcess(
        pid=pid,
        pidfd=os.pidfd_open(pid),
        requests=requests,
        answers=answers,
        noises=noises,
        decoder=Decoder(bytes_max),
        oom_kills=pressure.oom_kills(),
    )


def import_places() -> list[str]:
    """Where this process imports from, as paths that mean the same elsewhere."""
    return [str(Path(place or ".").absolute()) for place in sys.path]


def _readable(descriptor: int, ms: int | None) -> bool:
    waiter = select.poll()
    waiter.register(descriptor, select.POLLIN)
    return bool(waiter.poll(ms))


def _close(descriptors: list[int]) -> None:
    for descriptor in descriptors:
        os.close(descriptor)
