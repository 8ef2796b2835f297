"""Why a film is not measured: every reason by name, with what to do about it."""

from __future__ import annotations

from enum import StrEnum
from typing import Final


class Refusal(StrEnum):
    """The names of the reasons, as they stand at the head of a refusal."""

    PAYLOAD = "payload"
    PROFILE = "profile"
    MISSING = "missing"
    NOT_A_FILE = "not-a-file"
    UNREADABLE = "unreadable"
    EMPTY = "empty"
    NOT_MEDIA = "not-media"
    NO_VIDEO = "no-video"
    NO_DECODER = "no-decoder"
    NO_PACKETS = "no-packets"
    TOO_MANY_PACKETS = "too-many-packets"
    TOO_LARGE_PICTURE = "too-large-picture"
    TOO_MUCH_MEMORY = "too-much-memory"
    CHANGED = "changed"
    OTHER_ENGINE = "other-engine"


REMEDIES: Final = {
    Refusal.PAYLOAD: "the payload is not {'path': absolute path, 'profile': name}; correct it",
    Refusal.PROFILE: "there is no such profile; use `default`",
    Refusal.MISSING: "there is no such file; check the path",
    Refusal.NOT_A_FILE: "the path is not a regular file; give the film itself",
    Refusal.UNREADABLE: "the file may not be read; give the service the right to read it",
    Refusal.EMPTY: "the file holds no byte; deliver it again",
    Refusal.NOT_MEDIA: "no known container was found in it; deliver it again, or in a container that is listed in docs/media.md",
    Refusal.NO_VIDEO: "it holds no video stream; audio alone is not measured",
    Refusal.NO_DECODER: "this engine has no decoder for its video",
    Refusal.NO_PACKETS: "its video stream holds no packet; deliver it again",
    Refusal.TOO_MANY_PACKETS: "its video has more packets than one job may index; cut it into several films",
    Refusal.TOO_LARGE_PICTURE: "its picture is larger than may be decoded",
    Refusal.TOO_MUCH_MEMORY: "reading it needs more memory than an attempt may have; it is probably lying about its sizes",
    Refusal.CHANGED: "the file changed while it was measured; submit it again when it is at rest",
    Refusal.OTHER_ENGINE: "its plan was made by another engine; submit it again",
}


class RefusedError(Exception):
    """The film is refused: ``reason`` says why."""

    def __init__(self, reason: Refusal, detail: str = "") -> None:
        self.reason = reason
        super().__init__(f"{reason}: {REMEDIES[reason]}" + (f" ({detail})" if detail else ""))


class CancelledError(Exception):
    """The job was asked to stop while a film was read."""
