"""Whether locks and shared memory of a WAL database work on this filesystem: shown by two processes on a fresh file.

``prepare`` forks the second process between ``lay`` and ``probe``; a filesystem that lets both write, or hides a commit from the
other, must not carry a ledger.
"""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Final

import apsw

from appliance import errors
from appliance.store.engine import connect

NAME: Final = "selftest.db"
WRITER_SHUT_OUT: Final = 0
WRITER_LET_IN: Final = 3
COMMIT_NOT_SEEN: Final = 4


def lay(folder: Path) -> None:
    """A fresh database with one committed row."""
    remove(folder)
    connection = connect(folder / NAME, create=True)
    connection.execute("PRAGMA journal_mode = wal")
    connection.execute("CREATE TABLE proof (word TEXT) STRICT")
    connection.execute("INSERT INTO proof VALUES ('seen')")
    connection.close()


class Holding:
    """The first process: it holds the write lock while the second probes."""

    def __init__(self, folder: Path) -> None:
        """Begin a transaction and leave it open."""
        self._connection = connect(folder / NAME)
        self._connection.execute("BEGIN IMMEDIATE")
        self._connection.execute("INSERT INTO proof VALUES ('held')")

    def close(self) -> None:
        """End it."""
        self._connection.execute("ROLLBACK")
        self._connection.close()


def probe(folder: Path) -> int:
    """The second process: an exit code, 0 when it saw the commit and was shut out from writing."""
    connection = connect(folder / NAME)
    connection.set_busy_timeout(0)
    try:
        if connection.execute("SELECT word FROM proof").fetchall() != [("seen",)]:
            return COMMIT_NOT_SEEN
        try:
            connection.execute("BEGIN IMMEDIATE")
        except apsw.BusyError:
            return WRITER_SHUT_OUT
        return WRITER_LET_IN
    finally:
        connection.close()


def judge(folder: Path, code: int) -> None:
    """Raise ``StorageUnsuitableError`` unless the probe was shut out."""
    if code != WRITER_SHUT_OUT:
        what = {WRITER_LET_IN: "two writers were let in at once", COMMIT_NOT_SEEN: "a commit was not seen by another process"}
        message = f"locks do not work in {folder}: {what.get(code, f'the probe ended with {code}')}"
        raise errors.StorageUnsuitableError(message)


def remove(folder: Path) -> None:
    """Take the file away again."""
    for suffix in ("", "-wal", "-shm"):
        with contextlib.suppress(FileNotFoundError):
            (folder / (NAME + suffix)).unlink()
