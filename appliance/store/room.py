"""A page that processes share: a small file of the runtime folder, mapped into memory."""

from __future__ import annotations

import mmap
import os

from appliance import errors


def mapped(descriptor: int, size_bytes: int) -> mmap.mmap:
    """Map the file, with room for all of it: a page without would end with SIGBUS whoever touches it, be it to read.

    Raises ``StorageFullError`` when the filesystem has no room.
    """
    try:
        os.posix_fallocate(descriptor, 0, size_bytes)
    except OSError as error:
        message = f"there is no room for a page of {size_bytes} bytes in the runtime folder: {error.strerror}"
        raise errors.StorageFullError(message) from error
    return mmap.mmap(descriptor, size_bytes)
