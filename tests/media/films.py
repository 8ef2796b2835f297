"""The films of the tests: each a recipe, made by the ffmpeg program at a small size, kept by the hash of its recipe.

Every film shows the same 52 seconds (1300 frames of 256x144 at 25 a second): moving test pictures with grain, black from
frame 750 to 824 (across key packets and, in most plans, near a seam) and a still picture from frame 1000 to 1149.
"""

from __future__ import annotations

import hashlib
import os
import random
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

MASTER = (
    "-f lavfi -i testsrc2=s=256x144:r=25:d=52 -f lavfi -i sine=440:d=52 -filter_complex "
    "[0:v]format=yuv420p,noise=alls=8:allf=t:all_seed=3,loop=loop=150:size=1:start=1000,trim=end_frame=1300,setpts=N/25/TB,"
    "drawbox=t=fill:color=black:enable='between(n,750,824)'[v] "
    "-map [v] -map 1:a -c:v libx264 -preset ultrafast -qp 12 -bf 0 -g 250 -c:a pcm_s16le -t 52"
)
X264 = "-c:v libx264 -preset veryfast -b:v 900k -sc_threshold 0"
OPEN = f"{X264} -x264-params open-gop=1:keyint=50:min-keyint=10:bframes=3"
AAC = "-c:a aac -b:a 64k"
MP2 = "-c:a mp2 -b:a 96k"
MPEG2 = "-c:v mpeg2video -b:v 2M -bf 2"
VP9 = "-c:v libvpx-vp9 -deadline realtime -cpu-used 8 -b:v 500k -auto-alt-ref 1 -lag-in-frames 16 -g 100"


@dataclass(frozen=True, slots=True)
class Recipe:
    """How a film is made: an ffmpeg command over ``base``, or a change of the base's bytes."""

    name: str
    base: str = ""
    command: str = ""
    before: str = ""
    change: Callable[[bytes], bytes] | None = None
    salt: str = ""
    damaged: bool = False


def scratch(seed: int, spots: int = 25, length: int = 48) -> Callable[[bytes], bytes]:
    """Overwrite some spots between 5 and 95 per cent of the film with noise."""

    def change(data: bytes) -> bytes:
        chance = random.Random(seed)
        film = bytearray(data)
        for _ in range(spots):
            at = chance.randrange(len(film) // 20, len(film) * 19 // 20)
            film[at : at + length] = chance.randbytes(length)
        return bytes(film)

    return change


def lose(data: bytes) -> bytes:
    """Drop 60 of the 188-byte packets of a transport stream."""
    chance = random.Random(9)
    count = len(data) // 188
    lost = {chance.randrange(count // 10, count) for _ in range(60)}
    return b"".join(data[i * 188 : (i + 1) * 188] for i in range(count) if i not in lost)


def cut(share: float, extra: int = 77) -> Callable[[bytes], bytes]:
    """Keep only the first ``share`` of the film and some bytes."""
    return lambda data: data[: int(len(data) * share) + extra]


def behead(data: bytes) -> bytes:
    """Start a transport stream somewhere in the middle, on a packet boundary."""
    return data[len(data) // 3 // 188 * 188 :]


SOUND = (
    Recipe("h264_closed.mp4", "master.mkv", f"{X264} -bf 3 -g 50 -movflags +faststart {AAC}"),
    Recipe("h264_open.mov", "master.mkv", f"{OPEN} -c:a copy"),
    Recipe("h264_fragmented.mp4", "h264_closed.mp4", "-c copy -movflags frag_keyframe+empty_moov+default_base_moof"),
    Recipe("h264_edit_list.mp4", "h264_open.mov", f"-c:v copy {AAC}", before="-ss 7.3"),
    Recipe("h264_open.ts", "master.mkv", f"{OPEN} {MP2}"),
    Recipe("mpeg2_open.ts", "master.mkv", f"{MPEG2} -g 15 {MP2}"),
    Recipe("mpeg2_closed.mpg", "master.mkv", f"{MPEG2} -g 15 -flags +cgop -sc_threshold 1000000000 {MP2} -f vob"),
    Recipe("raw.h264", "h264_open.mov", "-an -c:v copy"),
    Recipe("h264_vfr.mkv", "master.mkv", f"-vf select='not(between(mod(n,7),3,4))' -vsync vfr {X264} -bf 3 -g 60 {AAC}"),
    Recipe("h264_vfr.mp4", "h264_vfr.mkv", "-c copy"),
    Recipe("h264_interlaced.mp4", "master.mkv", f"{X264} -flags +ildct+ilme -x264-params tff=1:open-gop=1:keyint=48:bframes=2"),
    Recipe("hevc_open.mp4", "master.mkv", "-c:v libx265 -preset ultrafast -b:v 700k -tag:v hvc1 -an -x265-params "
           "open-gop=1:keyint=50:bframes=3:b-adapt=0:log-level=error"),
    Recipe("mpeg2_open.mxf", "master.mkv", "-c:v mpeg2video -b:v 3M -bf 2 -g 12 -c:a pcm_s16le -ar 48000"),
    Recipe("mpeg4.avi", "master.mkv", "-c:v mpeg4 -b:v 1M -bf 2 -g 60 -c:a mp2"),
    Recipe("vp9.webm", "master.mkv", f"{VP9} -an"),
    Recipe("av1.mkv", "master.mkv", "-c:v libsvtav1 -preset 12 -svtav1-params lp=1 -b:v 500k -g 100 -an"),
    Recipe("prores.mov", "master.mkv", "-t 34 -c:v prores_ks -profile:v 2 -c:a pcm_s24le"),
    Recipe("h264_intra_refresh.ts", "master.mkv", f"{X264} -x264-params intra-refresh=1:keyint=50:bframes=0 -an"),
    Recipe("h264_intra_refresh.mp4", "h264_intra_refresh.ts", "-c copy"),
    Recipe("h264_wrap.ts", "h264_open.ts", "-c copy -output_ts_offset 95423 -f mpegts"),
    Recipe("h264_one_key.mp4", "master.mkv", f"-t 26 {X264} -g 99999 -keyint_min 99999 -bf 3 -an"),
    Recipe("h264_422_10.mkv", "master.mkv", f"-t 28 -pix_fmt yuv422p10le {X264} -bf 3 -g 50 -an"),
    Recipe("hevc_444_12.mkv", "master.mkv", "-t 26 -pix_fmt yuv444p12le -c:v libx265 -preset ultrafast -b:v 700k -an -x265-params "
           "keyint=50:log-level=error"),
    Recipe("ffv1_rgb.mkv", "master.mkv", "-t 13 -pix_fmt gbrp -c:v ffv1 -an"),
    Recipe("h264_rgb.mkv", "master.mkv", "-t 13 -c:v libx264rgb -preset veryfast -g 50 -an"),
)  # fmt: skip
ODD = (
    Recipe("h264_glued.ts", "h264_open.ts", change=lambda data: data + data, salt="twice"),
    Recipe("small.ts", "master.mkv", f"-t 26 -vf scale=192:108 {X264} -g 50 -bf 3 -an"),
    Recipe("big.ts", "h264_open.ts", "-t 20 -c copy -an"),
    Recipe("mpeg2_leading.ts", "mpeg2_open.ts", change=behead, salt="behead", damaged=True),
)
SCRATCHED = tuple(
    Recipe(f"damaged_{base}", base, change=scratch(seed), salt=f"scratch {seed}", damaged=True)
    for seed, base in enumerate(
        ("h264_open.ts", "mpeg2_open.ts", "h264_closed.mp4", "hevc_open.mp4", "mpeg4.avi", "vp9.webm", "av1.mkv", "prores.mov",
         "mpeg2_open.mxf", "h264_vfr.mkv", "raw.h264", "h264_422_10.mkv")
    )
)  # fmt: skip
BAD = (
    *SCRATCHED,
    Recipe("lost_h264_open.ts", "h264_open.ts", change=lose, salt="lose", damaged=True),
    Recipe("truncated_h264_open.ts", "h264_open.ts", change=cut(0.66), salt="0.66", damaged=True),
    Recipe("truncated_h264_closed.mp4", "h264_closed.mp4", change=cut(0.66), salt="0.66", damaged=True),
    Recipe("truncated_mpeg2_open.mxf", "mpeg2_open.mxf", change=cut(0.5), salt="0.5", damaged=True),
    Recipe("truncated_h264_vfr.mkv", "h264_vfr.mkv", change=cut(0.5), salt="0.5", damaged=True),
)
RECIPES = {recipe.name: recipe for recipe in (Recipe("master.mkv", command=MASTER), *SOUND, *ODD, *BAD)}
ALL = sorted([*RECIPES, "size_change.ts"])
UNDAMAGED = [name for name in ALL if name == "size_change.ts" or not RECIPES[name].damaged]
LONG_ONLY = frozenset(
    {"master.mkv", "big.ts", "small.ts", "h264_vfr.mp4", "h264_intra_refresh.mp4", "damaged_prores.mov", "damaged_vp9.webm"}
    | {"damaged_h264_vfr.mkv", "damaged_raw.h264", "h264_422_10.mkv", "truncated_h264_vfr.mkv"}
)  # their like is measured in every test of the rest


def key(recipe: Recipe) -> str:
    """A short name for everything that the film is made from."""
    above = key(RECIPES[recipe.base]) if recipe.base else ""
    return hashlib.sha256(f"3|{recipe.name}|{recipe.command}|{recipe.before}|{recipe.salt}|{above}".encode()).hexdigest()[:12]


def film(folder: Path, name: str) -> Path:
    """The film of that name, made now unless the folder has it."""
    if name == "size_change.ts":
        return joined(folder)
    recipe = RECIPES[name]
    path = folder / key(recipe) / name
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        fresh = path.with_name(f"{os.getpid()}.{name}")
        make(recipe, film(folder, recipe.base) if recipe.base else None, fresh)
        fresh.replace(path)
    return path


def make(recipe: Recipe, base: Path | None, target: Path) -> None:
    """Make one film from its base."""
    if recipe.change is not None and base is not None:
        target.write_bytes(recipe.change(base.read_bytes()))
        return
    source = [*recipe.before.split(), "-i", str(base)] if base else []
    argv = [
        "ffmpeg",
        "-hide_banner",
        "-loglevel",
        "error",
        "-nostdin",
        "-y",
        *source,
        *recipe.command.split(),
        "-fflags",
        "+bitexact",
        str(target),
    ]
    subprocess.run(argv, check=True, capture_output=True, timeout=110)


def joined(folder: Path) -> Path:
    """A transport stream whose picture size changes twice."""
    parts = [film(folder, name).read_bytes() for name in ("big.ts", "small.ts", "big.ts")]
    data = b"".join(parts)
    path = folder / hashlib.sha256(data).hexdigest()[:12] / "size_change.ts"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return path
