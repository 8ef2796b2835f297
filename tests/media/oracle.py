"""The second opinion: the ffmpeg program's own filters over a whole film, in one process, by time."""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

BLACK = re.compile(r"black_start:(\S+) black_end:(\S+) ")
SHOWN = re.compile(r"\] n: *\d+ pts:")
FILTERS = "blackdetect=d=0:pix_th=0.10:pic_th=0.98,showinfo=checksum=0"


@dataclass(frozen=True, slots=True)
class Opinion:
    """How many frames ffmpeg shows, and the seconds at which black begins."""

    frames: int
    black: tuple[Fraction, ...]


def opinion(film: Path) -> Opinion:
    """Ask ffmpeg about a film; ``-copyts`` keeps its time stamps, ``passthrough`` keeps it from dropping or doubling frames."""
    argv = ["ffmpeg", "-hide_banner", "-nostats", "-nostdin", "-threads", "1", "-copyts", "-i", str(film), "-map", "0:v:0"]
    argv += ["-vf", FILTERS, "-vsync", "passthrough", "-f", "null", "-"]
    text = subprocess.run(argv, check=True, capture_output=True, text=True, errors="replace", timeout=100).stderr
    return Opinion(len(SHOWN.findall(text)), tuple(Fraction(start) for start, _ in BLACK.findall(text)))
