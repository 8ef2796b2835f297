"""Every bound of the media workload on one page, with its reason.  Units are last in the names."""

from __future__ import annotations

from typing import Final

# --- what a film may be -------------------------------------------------------------------------
PACKETS_MAX: Final = 2_500_000  # 11 hours at 60 frames a second; the index takes 80 MB, a film of one part 340 MB of records
SIDE_PIXELS_MAX: Final = 16_384
PICTURE_PIXELS_MAX: Final = 8_192 * 4_352  # 8K with its padding; larger pictures are an error of their packet
STREAMS_LISTED_MAX: Final = 200

# --- the plan -----------------------------------------------------------------------------------
PART_FRAMES_MIN: Final = 300  # below, opening and overlap cost more than a tenth
PART_FRAMES_MAX: Final = 1_000  # above, a death costs too much work, unless there is no key packet to cut at
PARTS_AIM: Final = 256  # long films get longer parts before they get more of them
WINDOW_PARTS: Final = 8

# --- a part -------------------------------------------------------------------------------------
OVERLAP_FRAMES: Final = 8  # what a part decodes of the next one, as the proof of the seam
LEAD_FRAMES_MAX: Final = 64  # pictures shown before a key but coded after it: 16 in H.264, 31 in the usual AV1 pyramid
RUN_OUT_PACKETS_MAX: Final = 256  # a decoder that shows nothing past the next cut is not followed further
RUN_IN_KEYS_MAX: Final = 15  # of which 1, 3, 7 and 15 are tried
SEEK_BACK_KEYS: Final = (0, 1, 3, 7)  # how many keys before the wanted one a seek aims, until it lands at or before it
LANDING_PACKETS_MAX: Final = 512  # packets looked at after a seek before it counts as lost
ATTEMPT_MS_MAX: Final = 7_200_000  # a film with one key packet is one part, however long it is
STALL_MS: Final = 180_000  # a decoder that shows no progress for so long hangs
MEMORY_BYTES_MAX: Final = 2 << 30

# --- the report ---------------------------------------------------------------------------------
RANGES_LISTED_MAX: Final = 100  # of each kind of finding in the index; the totals count all
EVENTS_LISTED_MAX: Final = 1_000  # of each kind of event; the totals count all, and the frame data holds all
ERRORS_COUNTED_MAX: Final = 32  # different error codes counted apart

# --- loops --------------------------------------------------------------------------------------
HASH_BYTES: Final = 1 << 20
PACKETS_BETWEEN_LOOKS: Final = 16  # a look is: tell the progress, ask whether the job was cancelled
