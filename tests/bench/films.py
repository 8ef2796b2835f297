"""Films on the real appliance against bare decoders, and the measures against decoding alone."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Final

from appliance.coordination import queue
from appliance.coordination.work import Submission
from appliance.store.ledger import Ledger
from tests.bench import ledgers, running
from tests.bench.decoding import Pass, decode
from tests.bench.figures import Figure, figure
from tests.bench.running import Running

PICTURE: Final = "testsrc2=s={size}:r=25:d={seconds},noise=alls=8:allf=t:all_seed=3,format={format}"
X264: Final = "-c:v libx264 -preset veryfast -b:v 4M -g 250 -sc_threshold 0"
CODECS: Final = (
    ("HEVC", "yuv420p", "-c:v libx265 -preset ultrafast -b:v 3M -x265-params log-level=error", "mp4"),
    ("MPEG-2", "yuv420p", "-c:v mpeg2video -b:v 12M -bf 2 -g 15", "ts"),
    ("VP9", "yuv420p", "-c:v libvpx-vp9 -deadline realtime -cpu-used 8 -b:v 2M -g 100", "webm"),
    ("AV1", "yuv420p", "-c:v libsvtav1 -preset 12 -b:v 2M -g 100", "mkv"),
    ("ProRes 422, 10 bit", "yuv422p10le", "-c:v prores_ks -profile:v 2", "mov"),
)
SPAN: Final = """
SELECT (SELECT max(at_ms) FROM event WHERE job_id = :id AND move = 'fold')
       - (SELECT min(at_ms) FROM event WHERE job_id = :id AND move = 'claim'),
       (SELECT max(at_ms) FROM event WHERE job_id = :id AND noun = 'part' AND move = 'finish')
       - (SELECT min(at_ms) FROM event WHERE job_id = :id AND noun = 'part' AND move = 'claim')
"""


def film(folder: Path, name: str, encode: str, *, seconds: int, size: str = "1280x720", pixels: str = "yuv420p") -> Path:
    """A film of moving test pictures with grain, made now."""
    path = folder / name
    source = PICTURE.format(size=size, seconds=seconds, format=pixels)
    argv = ["ffmpeg", "-hide_banner", "-loglevel", "error", "-nostdin", "-f", "lavfi", "-i", source, *encode.split(), str(path)]
    subprocess.run(argv, check=True, capture_output=True)
    return path


def against_bare(folder: Path, *, quick: bool) -> Iterator[Figure]:
    """Two workers against two bare decoders that measure side by side, and against one continuous pass; in turns.

    The whole job counts for us: digest, index, seams, fold and report.  The bare ones decode and measure a film each.
    """
    path = film(folder, "film.mp4", X264, seconds=80 if quick else 120)
    pairs, ones, plain, shares = [], [], [], []
    with running.run(folder, "films", media=2) as appliance:
        ledger = ledgers.opened(appliance.place)
        for number in range(2 if quick else 5):
            (one,) = _bare(path, "measure", 1)
            pair = sum(each.rate for each in _bare(path, "measure", 2))
            decoders = sum(each.rate for each in _bare(path, "decode", 2))
            whole_s, parts_s = _job(ledger, appliance, path, number)
            rate = one.frames / whole_s
            pairs.append(rate / pair)
            ones.append(rate / one.rate)
            plain.append(rate / decoders)
            shares.append((rate, one.frames / parts_s, pair, decoders))
        ledger.close()
    rate, parts, pair, decoders = (median(column) for column in zip(*shares, strict=True))
    note = f"{rate:.0f} frames a second, {parts:.0f} from the first part to the last; bare {pair:.0f}"
    yield figure("2 workers / 2 bare decoders that measure", pairs, least=0.85, note=note)
    yield figure("2 workers / 1 continuous pass", ones)
    yield figure("2 workers, measuring / 2 bare decoders that do not", plain, note=f"bare {decoders:.0f}")


def _bare(path: Path, how: str, count: int) -> list[Pass]:
    argv = [sys.executable, "-m", "tests.bench.decoding", str(path), how]
    pipe = subprocess.PIPE
    children = [subprocess.Popen(argv, cwd=running.ROOT, stdin=pipe, stdout=pipe, text=True) for _ in range(count)]
    for child in children:
        if child.stdout is not None:
            child.stdout.readline()
    told = []
    for child in children:
        if child.stdin is not None:
            child.stdin.write("go\n")
            child.stdin.flush()
    for child in children:
        frames, seconds, cpu_seconds = child.communicate()[0].split()
        told.append(Pass(int(frames), float(seconds), float(cpu_seconds)))
    return told


def _job(ledger: Ledger, appliance: Running, path: Path, number: int) -> tuple[float, float]:
    """Seconds of the job, and of its parts."""
    asked = Submission(kind="media.qc", payload={"path": str(path), "profile": "default"}, work_id=f"film {number}")
    with ledger.write() as tx:
        (answer,) = queue.submit(tx, [asked])
    running.await_end(ledger, appliance.place.runtime, answer.id)
    ((whole_ms, parts_ms),) = ledger.read(SPAN, {"id": answer.id})
    return whole_ms / 1e3, parts_ms / 1e3


def against_decoding(folder: Path, *, quick: bool) -> Iterator[Figure]:
    """Decoding with the measures against decoding without them, by CPU time, in one process; in turns."""
    seconds, rounds = (10, 3) if quick else (20, 7)
    h264 = film(folder, "h264.mp4", X264, seconds=seconds)
    yield _measures("720p H.264 with measures / decoding alone", h264, rounds, least=0.65)
    for name, pixels, encode, ending in CODECS:
        path = film(folder, f"film.{ending}", encode, seconds=seconds, pixels=pixels)
        yield _measures(f"720p {name} with measures / decoding alone", path, rounds)


def _measures(name: str, path: Path, rounds: int, least: float | None = None) -> Figure:
    pairs = [(decode(path, measured=False), decode(path, measured=True)) for _ in range(rounds)]
    ratios = [alone.cpu_seconds / measured.cpu_seconds for alone, measured in pairs]
    rates = [median(each.frames / each.cpu_seconds for each in column) for column in zip(*pairs, strict=True)]
    return figure(name, ratios, least=least, note=f"{rates[1]:.0f} and {rates[0]:.0f} frames a second of CPU")
