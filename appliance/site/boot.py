"""Which boot this is, and when a process of it began: together with the pid, the only names that are never used twice."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from appliance.clock import SYSTEM


@dataclass(frozen=True, slots=True, kw_only=True)
class Stat:
    """The part of ``/proc/PID/stat`` that supervision needs: state letter, parent, group, start (field 22, in clock ticks)."""

    state: str
    parent: int
    group: int
    start_ticks: int

    @property
    def dead(self) -> bool:
        """Whether it has ended: a zombie waits for its parent, but does nothing any more."""
        return self.state in "ZXx"

    @property
    def stopped(self) -> bool:
        """Whether a signal or a debugger holds it still."""
        return self.state in "Tt"


def boot_id() -> str:
    """The kernel's random name of this boot."""
    return SYSTEM.boot_id()


def stat(pid: int) -> Stat | None:
    """What the kernel says of a process, or None when there is none.

    The second field is the process's name in parentheses; it may hold spaces and parentheses itself, so the fields are counted
    from the last ``)``.
    """
    try:
        raw = Path(f"/proc/{pid}/stat").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return None
    return parse_stat(raw)


def parse_stat(raw: bytes) -> Stat:
    """The fields of one line of ``/proc/PID/stat`` (proc_pid_stat(5))."""
    fields = raw[raw.rindex(b")") + 2 :].split()
    return Stat(state=fields[0].decode("ascii"), parent=int(fields[1]), group=int(fields[2]), start_ticks=int(fields[19]))


def waits_for_disk(pid: int) -> bool:
    """Whether a thread of a process is in state D: in a read, a write or a sync that the disk has not answered (proc_pid_stat(5)).

    No signal ends it there, SIGKILL on most filesystems included; it acts on it when the disk answers.
    """
    try:
        return any(parse_stat(path.read_bytes()).state == "D" for path in Path(f"/proc/{pid}/task").glob("*/stat"))
    except (FileNotFoundError, ProcessLookupError):  # a thread ended while we looked
        return False


def waits_for_lock(pid: int) -> bool:
    """Whether a process waits for a lock that another one holds: a blocked entry of ``/proc/locks`` (proc_locks(5))."""
    try:
        lines = Path("/proc/locks").read_bytes().splitlines()
    except FileNotFoundError:  # a kernel that tells nothing
        return False
    return any(fields[1:2] == [b"->"] and fields[5:6] == [b"%d" % pid] for fields in map(bytes.split, lines))


def start_ticks(pid: int) -> int | None:
    """When a process began, in clock ticks since boot, or None when there is no such process."""
    found = stat(pid)
    return None if found is None else found.start_ticks
