"""What is asked of a film: thresholds, as integers, by the name of the profile."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Final

from appliance.pipelines.media import bounds
from appliance.pipelines.media.refusals import Refusal, RefusedError


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """Thresholds of a quality control.

    ``black_luma_permille`` and ``black_pixels_permille`` are those of ffmpeg's ``blackdetect`` (pix_th=0.1, pic_th=0.98).
    ``range_pixels_permille`` is the one per cent of EBU R 103.  ``freeze_level_milli`` is the mean luma difference of a frame
    to its predecessor, in thousandths of an 8-bit level, up to which the picture counts as standing still.  A gap in the
    time stamps is a step of more than ``gap_ms`` and of more than ``gap_steps`` usual steps.
    """

    name: str = "default"
    part_frames_min: int = bounds.PART_FRAMES_MIN
    part_frames_max: int = bounds.PART_FRAMES_MAX
    overlap_frames: int = bounds.OVERLAP_FRAMES
    black_luma_permille: int = 100
    black_pixels_permille: int = 980
    black_frames_min: int = 2
    black_frames_warn: int = 50
    repeat_frames_min: int = 2
    freeze_level_milli: int = 250
    freeze_frames_min: int = 25
    range_pixels_permille: int = 10
    range_frames_min: int = 1
    gap_ms: int = 500
    gap_steps: int = 4

    def as_json(self) -> dict[str, str | int]:
        """The profile as it stands in reports and hashes."""
        return asdict(self)


PROFILES: Final = {profile.name: profile for profile in (Profile(),)}


def profile_of(name: str) -> Profile:
    """The profile of that name; raises ``RefusedError`` for an unknown one."""
    if name not in PROFILES:
        raise RefusedError(Refusal.PROFILE, name)
    return PROFILES[name]
