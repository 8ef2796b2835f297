"""Runs as files, and what moved between two of them."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import apsw
import msgspec

from tests.bench.figures import Figure

FOLDER: Final = Path(__file__).parent / "baselines"
NOISE_LEAST: Final = 0.10  # two runs of the same code on a shared machine differ by so much


class Run(msgspec.Struct, frozen=True, kw_only=True):
    """One run: on which machine, and its figures by name."""

    machine: str
    figures: list[Figure]


def machine() -> str:
    """What the figures depend on, in one line."""
    return (
        f"{os.cpu_count()} cores of {_processor()}, Linux {platform.release()}, Python {platform.python_version()}, "
        f"SQLite {apsw.sqlite_lib_version()}"
    )


def _processor() -> str:
    lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    names = [text.partition(":")[2].strip() for text in lines if text.startswith("model name")]
    return names[0] if names else platform.machine()


def store(path: Path, figures: Sequence[Figure]) -> None:
    """Write a run down."""
    run = Run(machine=machine(), figures=list(figures))
    path.write_bytes(msgspec.json.format(msgspec.json.encode(run), indent=1) + b"\n")


def load(path: Path) -> Run | None:
    """A run that was written down, if it was."""
    return msgspec.json.decode(path.read_bytes(), type=Run) if path.exists() else None


def moved(before: Run, now: Sequence[Figure]) -> Iterator[str]:
    """What differs by more than the noise: the spreads do not meet, and the medians are further apart than chance makes them."""
    known = {each.name: each for each in before.figures}
    for each in now:
        old = known.get(each.name)
        if old is None:
            yield f"{each.name}: new"
        elif not _meet(old, each) and abs(each.value - old.value) > NOISE_LEAST * abs(old.value):
            yield f"{each.name}: {old.value:.4g} before, {each.value:.4g} now ({(each.value / old.value - 1) * 100:+.0f} %)"


def _meet(one: Figure, other: Figure) -> bool:
    return one.low <= other.high and other.low <= one.high
