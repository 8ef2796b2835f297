"""The film as a file: who it is, what it weighs, and how it is opened.

A film is only ever opened as a local, regular file (the ``file:`` prefix keeps FFmpeg from seeing a protocol in a name) and
only by the listed demuxers: a text that calls itself a film could otherwise have other files, or addresses, opened.
"""

from __future__ import annotations

import errno
import hashlib
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Final

import av
from av.container import InputContainer
from av.video.stream import VideoStream

from appliance.pipelines.media import bounds
from appliance.pipelines.media.refusals import Refusal, RefusedError

DEMUXERS: Final = (
    "asf,avi,av1,dv,flv,gxf,h263,h264,hevc,ivf,m4v,matroska,webm,mov,mp4,m4a,3gp,3g2,mj2,mpeg,mpegts,mpegvideo,mxf,mxf_opatom,"
    "nut,obu,ogg,rm,vc1,vvc,wtv,yuv4mpegpipe"
)
OPTIONS: Final = {"format_whitelist": DEMUXERS, "protocol_whitelist": "file"}
ENVIRONMENT: Final = frozenset({errno.ENOMEM, errno.EMFILE, errno.ENFILE, errno.EINTR, errno.ESTALE, errno.ETIMEDOUT})


@dataclass(frozen=True, slots=True)
class Identity:
    """Which file this is, and in which state: enough to see that it was changed or replaced."""

    device: int
    inode: int
    size_bytes: int
    mtime_ns: int

    def as_json(self) -> list[int]:
        """The identity as it stands in the index."""
        return list(astuple(self))


@dataclass(frozen=True, slots=True)
class Reel:
    """An opened film: its container, and the one video stream that is measured."""

    container: InputContainer
    video: VideoStream


def identify(path: Path) -> Identity:
    """Say which file this is; raises ``RefusedError`` if it is no readable, regular, non-empty file."""
    try:
        found = path.stat()
    except (FileNotFoundError, NotADirectoryError) as error:
        raise RefusedError(Refusal.MISSING) from error
    except PermissionError as error:
        raise RefusedError(Refusal.UNREADABLE) from error
    if not stat.S_ISREG(found.st_mode):
        raise RefusedError(Refusal.NOT_A_FILE)
    if not os.access(path, os.R_OK):
        raise RefusedError(Refusal.UNREADABLE)
    if found.st_size == 0:
        raise RefusedError(Refusal.EMPTY)
    return Identity(found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns)


def unchanged(path: Path, identity: Identity) -> None:
    """Raise ``RefusedError`` unless the file is still the one that was indexed."""
    try:
        same = identify(path) == identity
    except RefusedError as error:
        raise RefusedError(Refusal.CHANGED, error.reason) from error
    if not same:
        raise RefusedError(Refusal.CHANGED)


def digest(path: Path, look: Callable[[int], None] = lambda done: None) -> str:
    """The SHA-256 of the whole file in hex, read in pieces of a megabyte; ``look`` is told how many bytes are done."""
    state = hashlib.sha256()
    piece = bytearray(bounds.HASH_BYTES)
    view = memoryview(piece)
    done = 0
    with path.open("rb", buffering=0) as file:
        while count := file.readinto(piece):
            state.update(view[:count])
            done += count
            look(done)
    return state.hexdigest()


def of_the_box(error: av.error.FFmpegError) -> bool:
    """Whether the error tells about this box and not about the film, and must not get into its records.

    EIO is not among them: demuxers give it for broken structures too.  A disk that fails makes ``digest`` raise, which reads all.
    """
    return error.errno in ENVIRONMENT


def told_by_the_film(error: av.error.FFmpegError) -> None:
    """Return if a demuxer's error is about the film; raise it again if it is about this box.

    Raises ``RefusedError`` for one about memory: it is mostly a film that lies about a size, and an index that ended where
    memory ended must not become a report.
    """
    if error.errno == errno.ENOMEM:
        raise RefusedError(Refusal.TOO_MUCH_MEMORY) from error
    if of_the_box(error):
        raise error


@contextmanager
def opened(path: Path) -> Iterator[Reel]:
    """Open a film for demuxing and decoding its video with one thread; raises ``RefusedError`` if it is none."""
    with container_of(path) as container:
        video = picked(container)
        for stream in container.streams:
            if stream.index != video.index:
                stream.discard = av.stream.Discard.all
        video.thread_type = "NONE"
        video.codec_context.thread_count = 1
        video.codec_context.options = {"max_pixels": str(bounds.PICTURE_PIXELS_MAX)}
        yield Reel(container, video)


def container_of(path: Path) -> InputContainer:
    """Open the container; raises ``RefusedError`` if there is none, and ``OSError`` if the box cannot read."""
    try:
        return av.open(f"file:{path}", options=OPTIONS, metadata_errors="replace")
    except av.error.FFmpegError as error:
        told_by_the_film(error)
        if error.errno == errno.EIO:
            digest(path)
        raise RefusedError(Refusal.NOT_MEDIA, type(error).__name__) from error


def picked(container: InputContainer) -> VideoStream:
    """The first video stream that is not a cover picture and has a decoder."""
    films = [stream for stream in container.streams.video if av.stream.Disposition.attached_pic not in stream.disposition]
    if not films:
        raise RefusedError(Refusal.NO_VIDEO)
    with_decoder = [stream for stream in films if getattr(stream, "codec_context", None) is not None]
    if not with_decoder:
        raise RefusedError(Refusal.NO_DECODER)
    return with_decoder[0]
