"""Why a process died: a pure function of its wait status and of what else is known."""

from __future__ import annotations

import signal
from dataclasses import dataclass
from enum import StrEnum, unique
from typing import Final

from appliance.errors import NoRoomError, StorageFailingError


@unique
class Cause(StrEnum):
    """The causes that policy tells apart."""

    ASKED = "asked"  # it was asked to stop: no failure
    MEMORY = "memory"  # the kernel killed it for memory, or it ran into its own bound
    SIGNAL = "signal"  # it crashed, or somebody else killed it
    TIME_LIMIT = "time_limit"  # it took longer than its job may, in time or in CPU
    STORAGE = "storage"  # it ended by itself, as the disk refused a write: no fault of its work
    ROOM = "room"  # it ended by itself, as the machine had no room for its hand: no fault of its work
    EXITED = "exited"  # it ended by itself, with any other code
    HUNG = "hung"  # it showed no life, and we ended it
    GARBLED = "garbled"  # a hand that answered nonsense, or would not stop talking
    POWER = "power"  # the machine went down under it
    GONE = "gone"  # it is not there any more, and nobody who could know says why


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What is known besides the wait status.  ``killed_for`` is why we ended it ourselves, if we did."""

    killed_for: Cause | None = None
    oom_kills: int = 0


OF_THE_BOX: Final = {StorageFailingError.exit_code: Cause.STORAGE, NoRoomError.exit_code: Cause.ROOM}
TIME_SIGNALS: Final = frozenset({signal.SIGXCPU, signal.SIGALRM, signal.SIGVTALRM, signal.SIGPROF})


def cause(code: int, facts: Facts) -> Cause:
    """The cause of a death by its exit code (minus the signal's number, as ``os.waitstatus_to_exitcode`` has it) and the facts.

    What we did ourselves comes first, since we know it; but a child that was asked to stop and then crashes or is killed by the
    kernel is named for that, as this must be seen.  A SIGKILL counts as the kernel's when its counter of out-of-memory kills moved.
    """
    if code == -signal.SIGKILL:
        return facts.killed_for or (Cause.MEMORY if facts.oom_kills > 0 else Cause.SIGNAL)
    if code == -signal.SIGTERM:
        return facts.killed_for or Cause.SIGNAL
    if -code in TIME_SIGNALS:
        return Cause.TIME_LIMIT
    if code < 0:
        return Cause.SIGNAL
    return facts.killed_for or OF_THE_BOX.get(code, Cause.EXITED)
