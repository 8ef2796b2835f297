"""The bench: ``scripts/bench core`` and ``scripts/bench media``."""

from __future__ import annotations

import argparse
import importlib
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from tests.bench import baseline, figures
from tests.bench.figures import Figure

SETS: Final = {
    "core": ("submits.bulk", "submits.crowd", "latency.idle", "claims.crowded", "throughput.noops", "latency.killed"),
    "media": ("films.against_bare", "films.against_decoding", "storage.peak"),
}
EPILOG: Final = """Each line: whether the bar is reached, the median over the rounds, the middle half of them, the bar, and what the
ratio is made of.  A figure that misses its bar is said and is no error: the exit code is 0 whatever the machine makes of it."""


def main(argv: Sequence[str]) -> int:
    """Measure, print, and compare."""
    arguments = _arguments(argv)
    print(f"# {baseline.machine()}", flush=True)
    found = _measure(arguments)
    if arguments.json:
        baseline.store(arguments.json, found)
    short = [each.name for each in found if each.verdict == "short"]
    print(f"# short of their bar: {'; '.join(short) or 'none'}")
    if arguments.compare:
        _compare(arguments.compare, found)
    return 0


def _arguments(argv: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="scripts/bench", description="Figures as ratios, in one run.", epilog=EPILOG)
    parser.add_argument("set", choices=SETS)
    parser.add_argument("--quick", action="store_true", help="fewer rounds: a look, no proof")
    parser.add_argument(
        "--only", metavar="NAME", help="one measurement of the set, by name: %(choices)s", choices=sum(SETS.values(), ())
    )
    parser.add_argument("--folder", type=Path, default=Path("/var/tmp"), metavar="DIR", help="on the disk to be measured")  # noqa: S108 - a fresh folder inside
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures down; this is how a baseline is made")
    parser.add_argument(
        "--compare",
        type=Path,
        nargs="?",
        const=None,
        metavar="FILE",
        default=False,
        help="with a run written down (default: the baseline)",
    )
    arguments = parser.parse_args(argv)
    if arguments.compare is None:
        arguments.compare = baseline.FOLDER / f"{arguments.set}.json"
    return arguments


def _measure(arguments: argparse.Namespace) -> list[Figure]:
    found = []
    for name in [arguments.only] if arguments.only else SETS[arguments.set]:
        module, _, verb = name.partition(".")
        measure = getattr(importlib.import_module(f"tests.bench.{module}"), verb)
        with tempfile.TemporaryDirectory(prefix="appliance-bench-", dir=arguments.folder) as folder:
            for each in measure(Path(folder), quick=arguments.quick):
                print(figures.line(each), flush=True)
                found.append(each)
    return found


def _compare(path: Path, found: Sequence[Figure]) -> None:
    before = baseline.load(path)
    if before is None:
        print(f"# there is no {path} to compare with; --json makes one")
        return
    print(f"# against {path.name}: {before.machine}")
    moved = list(baseline.moved(before, found))
    for each in moved:
        print(f"moved {each}")
    if not moved:
        print("# nothing moved by more than the noise")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
