"""Files of outcomes.

A path is made of the key of its attempt, so it carries the fence: a late writer writes into a file that no row names, and that
the sweep removes.

Order: write, sync the file, sync its folders; only then the transaction that names it.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import secrets
import shutil
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from appliance import errors, limits
from appliance.coordination.work import Claimed, FilePlace, Folding, Lease

FOLDER: Final = "files"
PLAIN: Final = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,99}")
OUTPUT: Final = "output"


def folder(state: Path, id_: int, attempt: int) -> Path:
    """The folder of one attempt of a job."""
    return state / FOLDER / str(id_) / str(attempt)


def path(state: Path, place: FilePlace) -> Path:
    """Where a file is."""
    return folder(state, place.id, place.attempt) / file_name(place.ordinal, place.part_attempt, place.name)


def file_name(ordinal: int, part_attempt: int, name: str) -> str:
    """The last element of a file's path."""
    if ordinal >= 0:
        return f"part.{ordinal}.{part_attempt}.{name}"
    return f"fold.{part_attempt}.{name}" if part_attempt else f"job.{name}"


def write(state: Path, lease: Lease, files: Mapping[str, bytes]) -> tuple[FilePlace, ...]:
    """Write the files of an outcome durably; the rows that name them go into the transaction of the outcome.

    Raises ``PayloadError`` for a name that is not plain or a file over its limit.
    """
    if not files:
        return ()
    within = folder(state, lease.id, lease.attempt)
    _make_durable(state, within)
    places = tuple(_place(lease, name, content) for name, content in sorted(files.items()))
    for place in places:
        _write(path(state, place), files[place.name])
    _sync_folder(within)
    return places


def _place(lease: Lease, name: str, content: bytes) -> FilePlace:
    if not PLAIN.fullmatch(name) or name.startswith(f"{OUTPUT}.") or len(content) > limits.FILE_BYTES_MAX:
        message = (
            f"the file {name!r} of {len(content)} bytes: a name has letters, digits, . _ - and does not begin with {OUTPUT}., "
            f"a size {limits.FILE_BYTES_MAX} at most"
        )
        raise errors.PayloadError(message)
    return FilePlace(
        id=lease.id,
        attempt=lease.attempt,
        ordinal=-1 if lease.ordinal is None else lease.ordinal,
        part_attempt=0 if lease.noun == "job" else lease.fence,
        name=name,
        size_bytes=len(content),
        sha256=hashlib.sha256(content).hexdigest(),
    )


def _write(target: Path, content: bytes) -> None:
    """A file of this fence; one that is there is our own, from a write that did not come to its transaction."""
    descriptor = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    with open(descriptor, "wb", buffering=0) as file:  # noqa: PTH123 - a descriptor with its own flags
        _write_all(file.fileno(), content)
        os.fdatasync(file.fileno())


def _write_all(descriptor: int, content: bytes) -> None:
    view = memoryview(content)
    while view:
        view = view[os.write(descriptor, view) :]


def _make_durable(state: Path, within: Path) -> None:
    """Make a folder whose name survives: each new level is synced in the one above."""
    missing = [level for level in (within, *within.parents) if level.is_relative_to(state) and not level.exists()]
    for level in reversed(missing):
        level.mkdir(mode=0o700, exist_ok=True)
        _sync_folder(level.parent)


def _sync_folder(within: Path) -> None:
    descriptor = os.open(within, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def output_name(fence: int) -> str:
    """The name of a fold's output, which carries the fence of its holder."""
    return f"{OUTPUT}.{fence}"


def output_path(state: Path, lease: Lease, fence: int) -> Path:
    """Where the output of a fold with this fence is."""
    return folder(state, lease.id, lease.attempt) / file_name(-1, 0, output_name(fence))


def take_over(state: Path, lease: Lease, folding: Folding) -> Path:
    """The output file of a new holder of the fold, with the recorded length; the rows change with its first step.

    After a holder that resigned, which has closed its file, the new name is a second link to the same file.  After one that was
    cut off it is a copy of the recorded length: a late writer then writes into a file that nobody reads any more.
    """
    mine = output_path(state, lease, lease.fence)
    _make_durable(state, mine.parent)
    mine.unlink(missing_ok=True)
    earlier = output_path(state, lease, folding.output_fence)
    if folding.output_fence == 0:
        _write(mine, b"")
    elif folding.output_fence == lease.fence - 1:
        os.link(earlier, mine)
        _require_length(mine, folding.output_bytes)
        os.truncate(mine, folding.output_bytes)
    else:
        _copy(earlier, mine, folding.output_bytes)
        _require_length(mine, folding.output_bytes)
    for left in mine.parent.iterdir():
        if left != earlier and _left_behind(left.name, lease.fence, folding.folded):
            left.unlink(missing_ok=True)
    return mine


def _left_behind(name: str, fence: int, folded: int) -> bool:
    """Whether a file is the output of an earlier holder of the fold, or of a part that is folded: who made it is dead or late."""
    kind, first, second = (*name.split("."), "", "")[:3]
    if (kind, first) == ("job", OUTPUT):
        return second.isdecimal() and int(second) < fence
    return kind == "part" and int(first) < folded


def _copy(earlier: Path, mine: Path, size_bytes: int) -> None:
    with earlier.open("rb") as source, mine.open("xb") as target:
        left = size_bytes
        while left and (sent := os.copy_file_range(source.fileno(), target.fileno(), left)):
            left -= sent


def _require_length(output: Path, size_bytes: int) -> None:
    """A shorter file has lost what the ledger says it has; made longer it would be filled with zeros."""
    if output.stat().st_size < size_bytes:
        message = f"the output file {output} is shorter than its recorded {size_bytes} bytes"
        raise errors.StorageFailingError(message)


def append(mine: Path, size_bytes: int, content: bytes) -> int:
    """Append to an output file at its recorded length, durably; the new length."""
    descriptor = os.open(mine, os.O_WRONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    try:
        os.lseek(descriptor, size_bytes, os.SEEK_SET)
        _write_all(descriptor, content)
        os.fdatasync(descriptor)
    finally:
        os.close(descriptor)
    _sync_folder(mine.parent)
    return size_bytes + len(content)


def output_place(claimed: Claimed, mine: Path, size_bytes: int) -> FilePlace:
    """The finished output of a split as one of the job's files, with its digest."""
    with mine.open("rb") as file:
        sha256 = hashlib.file_digest(file, "sha256").hexdigest()
    lease = claimed.lease
    name = output_name(lease.fence)
    return FilePlace(
        id=lease.id, attempt=lease.attempt, ordinal=-1, part_attempt=0, name=name, size_bytes=size_bytes, sha256=sha256
    )


def forget(state: Path, lease: Lease, places: Collection[FilePlace], older_output: int | None = None) -> None:
    """Remove files whose rows a committed step has deleted, and the output of the holder before."""
    gone = [path(state, place) for place in places]
    if older_output:
        gone.append(output_path(state, lease, older_output))
    for target in gone:
        target.unlink(missing_ok=True)


def forget_job(state: Path, id_: int) -> None:
    """Remove all files of a job that has come to no result."""
    shutil.rmtree(state / FOLDER / str(id_), ignore_errors=True)


def sweep(state: Path, named: Callable[[int, int], Collection[str] | None]) -> Iterator[int]:
    """Remove the files that no row names, attempt by attempt; how many were removed of each.

    ``named(job, attempt)`` gives the file names of an attempt's rows, or None for one at work, whose files are left alone.  What
    is not named as a folder of ours is left alone too: somebody else has put it there.
    """
    for of_job in _numbered(state / FOLDER):
        for within in _numbered(of_job):
            keep = named(int(of_job.name), int(within.name))
            yield 0 if keep is None else _remove_all_but(within, keep)
        with contextlib.suppress(OSError):
            of_job.rmdir()


def _numbered(within: Path) -> Iterator[Path]:
    """The folders that have a number for a name, one after another: there may be very many."""
    with contextlib.suppress(FileNotFoundError, NotADirectoryError), os.scandir(within) as entries:
        yield from (within / entry.name for entry in entries if entry.name.isdecimal() and entry.is_dir(follow_symlinks=False))


def _remove_all_but(within: Path, keep: Collection[str]) -> int:
    gone = [left for left in within.iterdir() if left.name not in keep]
    for left in gone:
        if left.is_dir() and not left.is_symlink():
            shutil.rmtree(left, ignore_errors=True)
        else:
            left.unlink(missing_ok=True)
    with contextlib.suppress(OSError):
        within.rmdir()
    return len(gone)


def export(state: Path, place: FilePlace, target: Path) -> Path:
    """Copy a file to where a person wants it."""
    with _replacing(target) as temporary:
        shutil.copyfile(path(state, place), temporary)
    return target


def replace(target: Path, content: bytes) -> Path:
    """Write a file that a person reads: it is there whole, or as it was before."""
    with _replacing(target) as temporary:
        temporary.write_bytes(content)
    return target


@contextmanager
def _replacing(target: Path) -> Iterator[Path]:
    """Under a name that nobody else uses, then synced, then renamed."""
    temporary = target.with_name(f".{secrets.token_hex(8)}.part")
    try:
        yield temporary
        descriptor = os.open(temporary, os.O_RDONLY | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)
    _sync_folder(target.parent)
