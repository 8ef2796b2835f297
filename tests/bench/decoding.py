"""A film decoded outside the appliance, with and without the measures: ``python -m tests.bench.decoding FILE decode|measure``.

It says that it is ready, waits for a line, decodes the whole film with one thread, and prints frames, seconds and seconds of CPU.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import NamedTuple

from appliance.pipelines.media import film, profiles
from appliance.pipelines.media.pixels import Gauge


class Pass(NamedTuple):
    """One pass over a film."""

    frames: int
    seconds: float
    cpu_seconds: float

    @property
    def rate(self) -> float:
        """Frames a second."""
        return self.frames / self.seconds


def decode(path: Path, *, measured: bool, frames_most: int = sys.maxsize) -> Pass:
    """Decode a film, or its beginning."""
    gauge = Gauge(profiles.profile_of("default"))
    began, cpu, frames = time.perf_counter(), time.process_time(), 0
    with film.opened(path) as reel:
        for frame in reel.container.decode(reel.video):
            if measured:
                gauge.measure(frame)
            frames += 1
            if frames == frames_most:
                break
    return Pass(frames, time.perf_counter() - began, time.process_time() - cpu)


if __name__ == "__main__":
    print("ready", flush=True)
    sys.stdin.readline()
    print(*decode(Path(sys.argv[1]), measured=sys.argv[2] == "measure"))
