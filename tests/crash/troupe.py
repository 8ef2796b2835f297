"""The test's side of a supervisor at work: start one on a folder, change its plan, and see who lives."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from appliance.site import boot
from tests.crash.facts import gone, until

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True, slots=True, kw_only=True)
class Troupe:
    """A running supervisor and its folder."""

    folder: Path
    process: subprocess.Popen[bytes]

    def plan(self, *children: tuple[str, str]) -> None:
        """Write the next plan: names with their kinds."""
        write_plan(self.folder, *children)

    def send(self, number: signal.Signals) -> None:
        """Send the supervisor a signal."""
        self.process.send_signal(number)

    def seen(self, name: str) -> list[int]:
        """The pids of all children of this name that ever were at work, oldest first."""
        files = sorted(self.folder.glob(f"{name}.*[0-9]"), key=lambda file: file.stat().st_mtime_ns)
        return [int(file.suffix[1:]) for file in files if file.suffix[1:].isdecimal()]

    def living(self, name: str) -> list[int]:
        """The pids of the children of this name that live now."""
        return [pid for pid in self.seen(name) if not gone(pid)]

    def up(self, name: str, *, besides: int = 0) -> int:
        """The pid of the child of this name, once it is at work; not the one given."""
        return until(lambda: [pid for pid in self.living(name) if pid != besides], what=f"{name} at work")[0]

    def deaths(self) -> list[dict[str, Any]]:
        """What the supervisor wrote down."""
        path = self.folder / "deaths"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    def death_of(self, pid: int) -> dict[str, Any]:
        """What it wrote of this process, once it did."""
        return until(lambda: [death for death in self.deaths() if death["pid"] == pid], what=f"death of {pid}")[0]

    def close(self) -> None:
        """End it and everything that it has."""
        for pid in descendants(self.process.pid):
            if not gone(pid):
                os.kill(pid, signal.SIGKILL)
        self.process.kill()
        self.process.wait()


def write_plan(folder: Path, *children: tuple[str, str]) -> None:
    """Write a plan whole, as prepare may read it at any moment."""
    entries = [{"name": name, "kind": kind, "argument": {"folder": str(folder)}} for name, kind in children]
    (folder / "plan.new").write_text(json.dumps({"children": entries}))
    (folder / "plan.new").replace(folder / "plan.json")


def start(folder: Path, *arguments: str) -> Troupe:
    """Start a supervisor on the folder."""
    with (folder / "log").open("ab") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.crash.stage", str(folder), *arguments], cwd=ROOT, stderr=log, stdin=subprocess.DEVNULL
        )
    return Troupe(folder=folder, process=process)


def descendants(pid: int) -> list[int]:
    """All processes below this one, nearest first."""
    stats = {int(name): boot.stat(int(name)) for name in os.listdir("/proc") if name.isdecimal()}
    below = [pid]
    for each in below:
        below += [child for child, found in stats.items() if found is not None and found.parent == each]
    return below[1:]
