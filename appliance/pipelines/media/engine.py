"""The engine: what, besides film and profile, decides the numbers."""

from __future__ import annotations

import platform
from typing import Final

import av

MEASURE_VERSION: Final = 1  # raised with every change of what is measured or how it is laid out


def fingerprint() -> dict[str, str | int]:
    """Versions of this measure, of PyAV and of FFmpeg's libraries, and the kind of processor.

    Two engines with the same fingerprint give the same numbers: FFmpeg's decoders are integer programs, but the choice of
    an inverse transform may differ between architectures.
    """
    libraries = {name: ".".join(map(str, av.library_versions[name])) for name in ("libavcodec", "libavformat", "libavutil")}
    return {"measure": MEASURE_VERSION, "pyav": av.__version__, "machine": platform.machine(), **libraries}
