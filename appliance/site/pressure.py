"""How starved this machine is: the kernel's pressure-stall figures (its accounting/psi.rst) and its out-of-memory kills."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from appliance import limits

PRESSURE: Final = Path("/proc/pressure")
VMSTAT: Final = Path("/proc/vmstat")
OWN_GROUP: Final = Path("/proc/self/cgroup")
GROUPS: Final = Path("/sys/fs/cgroup")


@dataclass(frozen=True, slots=True, kw_only=True)
class Pressure:
    """Shares of the last ten seconds, in percent: some work waited for a CPU; all work waited for the disk, or for memory."""

    cpu: float = 0.0
    io: float = 0.0
    memory: float = 0.0

    @property
    def starved(self) -> bool:
        """Whether a silent process may be silent only because nothing gets its turn."""
        return (
            self.cpu >= limits.STARVED_CPU_PERCENT
            or self.io >= limits.STARVED_IO_PERCENT
            or self.memory >= limits.STARVED_MEMORY_PERCENT
        )


def read() -> Pressure:
    """The pressure now; a kernel without the figures says there is none."""
    return Pressure(
        cpu=average("some", _text(PRESSURE / "cpu")),
        io=average("full", _text(PRESSURE / "io")),
        memory=average("full", _text(PRESSURE / "memory")),
    )


def average(row: str, text: str) -> float:
    """The ``avg10`` of one row of a pressure file, for instance ``some avg10=0.75 avg60=0.28 avg300=0.31 total=3970649``."""
    for line in text.splitlines():
        name, *fields = line.split()
        if name == row:
            return next((float(field[6:]) for field in fields if field.startswith("avg10=")), 0.0)
    return 0.0


def oom_kills() -> int:
    """How often the kernel has killed for memory: in our own control group if that can be known, else on the whole machine."""
    for line in _text(OWN_GROUP).splitlines():
        if line.startswith("0::/"):
            kills = count("oom_kill", _text(GROUPS / line[4:] / "memory.events"))
            if kills is not None:
                return kills
    return count("oom_kill", _text(VMSTAT)) or 0


def count(name: str, text: str) -> int | None:
    """The number behind a name in a file of ``name number`` lines."""
    return next((int(line.split()[1]) for line in text.splitlines() if line.startswith(name + " ")), None)


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii")
    except OSError:
        return ""
