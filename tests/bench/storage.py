"""What a film of many parts takes on the disk while it is measured."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

from appliance.coordination import history, queue
from appliance.coordination.files import FOLDER
from appliance.coordination.work import Submission
from appliance.pipelines.media.bounds import PART_FRAMES_MIN, WINDOW_PARTS
from appliance.store.wake import Waiter
from tests.bench import films, ledgers, running
from tests.bench.figures import Figure, figure

PARTS: Final = 200
TINY: Final = f"-c:v libx264 -preset ultrafast -g {PART_FRAMES_MIN} -keyint_min {PART_FRAMES_MIN} -sc_threshold 0"
PART_FILE: Final = re.compile(r"part\.(\d+)\.")
LOOK_MS: Final = 2


def peak(folder: Path, *, quick: bool) -> Iterator[Figure]:
    """The most bytes that the files of parts took at any time, against those of a full window; the film has tiny pictures."""
    parts = PARTS // 10 if quick else PARTS
    path = films.film(folder, "tiny.mp4", TINY, seconds=parts * PART_FRAMES_MIN // 25, size="64x48")
    with running.run(folder, "storage", media=2) as appliance:
        ledger = ledgers.opened(appliance.place)
        asked = Submission(kind="media.qc", payload={"path": str(path), "profile": "default"}, work_id="tiny")
        with ledger.write() as tx:
            (answer,) = queue.submit(tx, [asked])
        waiter = Waiter(appliance.place.runtime, ("work", "ends"), f"bench-{os.getpid()}")
        most, sizes = 0, dict[int, int]()
        while history.ended(ledger, [answer.id]).get(answer.id) is None:
            waiter.wait(LOOK_MS)
            found = _parts(appliance.place.state / FOLDER / str(answer.id))
            most = max(most, sum(found.values()))
            sizes |= {ordinal: max(size, sizes.get(ordinal, 0)) for ordinal, size in found.items()}
        waiter.close()
        ledger.close()
    window = WINDOW_PARTS * sum(sizes.values()) / len(sizes)
    note = f"{most:,} bytes at most, {sum(sizes.values()):,} in all; {len(sizes)} of {parts} parts seen"
    yield figure(f"peak storage of {parts} parts / a window of {WINDOW_PARTS}", [most / window], most=2, note=note)


def _parts(folder: Path) -> dict[int, int]:
    """Bytes by part."""
    found: dict[int, int] = {}
    for file in folder.glob("*/part.*"):
        match = PART_FILE.match(file.name)
        with suppress(FileNotFoundError):
            size = file.stat().st_size
            if match:
                found[int(match[1])] = found.get(int(match[1]), 0) + size
    return found
