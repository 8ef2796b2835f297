"""The dead and their orphans.

A dead child's process group is killed while its zombie still holds the number, so the signal cannot hit a stranger who got the
number since.  The supervisor adopts every orphaned descendant (it is a subreaper); nobody of ours leaves a process behind on
purpose, so a child of the supervisor that it did not make itself is a stray, and is killed with its group.
"""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Collection, Iterator
from pathlib import Path

from appliance.site import boot


def dead() -> Iterator[tuple[int, int]]:
    """The pid and exit code of each child that has ended, adopted ones included, each reaped after its group was killed."""
    while (pid := _next_dead()) is not None:
        kill_group(pid)
        _, ended = os.waitpid(pid, 0)
        yield pid, os.waitstatus_to_exitcode(ended)


def kill_group(pid: int) -> None:
    """Kill everybody in the group that this unreaped child leads, if it leads one."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)


def send(pid: int, number: signal.Signals) -> None:
    """Send a signal to an unreaped child; one that is dead already does not mind."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, number)


def strays(known: Collection[int]) -> list[int]:
    """The living children of this process that are not among the known ones."""
    return [pid for pid in children() if pid not in known and (found := boot.stat(pid)) is not None and not found.dead]


def kill_stray(pid: int, known: Collection[int]) -> None:
    """Kill an adopted child, and its group when that is not our own or a living child's."""
    found = boot.stat(pid)
    if found is not None and found.group != os.getpgrp() and found.group not in known:
        kill_group(found.group)
    send(pid, signal.SIGKILL)


def children() -> list[int]:
    """The children of this single-threaded process, by the kernel's own list, or by a look at every process where it keeps none."""
    with contextlib.suppress(FileNotFoundError):
        return [int(pid) for pid in Path("/proc/thread-self/children").read_bytes().split()]
    pids = [int(name) for name in os.listdir("/proc") if name.isdecimal()]
    return [pid for pid in pids if (found := boot.stat(pid)) is not None and found.parent == os.getpid()]


def _next_dead() -> int | None:
    with contextlib.suppress(ChildProcessError):
        found = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        return None if found is None else found.si_pid
    return None
