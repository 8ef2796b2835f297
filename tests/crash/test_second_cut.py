"""The power goes again while the ledger is opened, recovered and emptied after the first cut: as brown-outs come in rows."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from appliance.store.ledger import LEDGER, Ledger
from tests.crash.powercut_vfs import Disk, Policy, recorded
from tests.crash.test_power_cut import POLICIES, Record, cuts, found_wrong, record
from tests.ledger.box import Dial, place

pytestmark = pytest.mark.crash

FIRST_CUTS = 40
AGAIN: tuple[Policy, ...] = ("drop", "keep", "mix")


def recovered(image: dict[str, bytes], folder: Path, name: str) -> Iterator[dict[str, bytes]]:
    """Open an image as a restart does, empty its WAL, close it; the images that a cut at each operation of that leaves."""
    folder.mkdir()
    with recorded(name) as trace:
        where = place(folder, vfs=name)
        for file, content in image.items():
            (where.state / file).write_bytes(content)
        ledger = Ledger(where, Dial().clock(), 3)
        ledger.checkpoint()
        ledger.close()
    disk = Disk(garbles=True, safe={file: bytearray(content) for file, content in image.items()}, named=set(image))
    for number, op in enumerate(trace.ops):
        disk.apply(op)
        for policy in AGAIN:
            found = disk.image(policy, random.Random(f"{number}/{policy}"))
            found.pop(f"{LEDGER}-shm", None)
            yield found


def test_p1_a_second_power_cut_during_the_recovery_loses_nothing_acknowledged(tmp_path: Path) -> None:
    """From a sample of what the first cut left."""
    for name in ("run", "image"):
        (tmp_path / name).mkdir()
    taken: Record = record(tmp_path / "run", 6, 60)
    sample = random.Random(6).sample(list(cuts(taken, garbles=True, policies=POLICIES)), FIRST_CUTS)
    tried = 0
    for number, (_, image, low, high) in enumerate(sample):
        for found in recovered(image, tmp_path / f"again{number}", f"again-{number}"):
            assert found_wrong(tmp_path / "image", found, taken.states, low, high) is None
            tried += 1
    assert tried > 1_000
