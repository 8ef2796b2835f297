"""``live.db``: what must not survive, in the runtime folder, in memory.  Who is alive, and how far work has come.

It is named by the boot id, so that another boot finds none.  Its commits are not synced, and no transaction writes it together
with the ledger: a kill between the two commits would leave one without the other.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

import apsw

from appliance.store.engine import BUSY_MS, Guard, connect
from appliance.store.ledger import Bindings, Row

MAKING: Final = "live.making"
NOTE_MS: Final = 20
SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS process (
  holder TEXT PRIMARY KEY,
  kind TEXT NOT NULL,
  name TEXT NOT NULL,
  release TEXT NOT NULL,
  started_boot_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS progress (
  job_id INTEGER NOT NULL,
  ordinal INTEGER NOT NULL,
  attempt INTEGER NOT NULL,
  done INTEGER NOT NULL,
  total INTEGER NOT NULL,
  at_boot_ms INTEGER NOT NULL,
  PRIMARY KEY (job_id, ordinal)
) STRICT, WITHOUT ROWID;
"""


@contextmanager
def making(runtime: Path) -> Iterator[None]:
    """The right to take a new database to its WAL.

    Two that do so at once both read, and then neither can wait for the other: the engine calls one of them locked at once, whatever
    its busy time.  The kernel's lock is a wait without an error, and dies with its holder.
    """
    descriptor = os.open(runtime / MAKING, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


class Live:
    """An open ``live.db``; small transactions of its own."""

    def __init__(self, runtime: Path, boot_id: str) -> None:
        """Open it, making it for this boot when it is not there."""
        self._guard = Guard()
        self._connection = connect(runtime / f"live-{boot_id[:8]}.db", create=True)
        if self._connection.execute("PRAGMA journal_mode").get != "wal":
            with making(runtime):
                self._connection.execute("PRAGMA journal_mode = wal")
        self._connection.execute("PRAGMA synchronous = off")
        if not self.rows("SELECT 1 FROM sqlite_schema WHERE name = 'progress'"):
            with self.write():
                self._connection.execute(SCHEMA)

    @contextmanager
    def write(self) -> Iterator[apsw.Connection]:
        """One transaction."""
        self._guard.check()
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            yield self._connection
            self._connection.execute("COMMIT")
        except BaseException:
            with suppress(apsw.Error):
                self._connection.execute("ROLLBACK")
            raise

    def note(self, sql: str, bindings: Bindings) -> None:
        """One statement that may be lost, and is when somebody stays inside, or there is no room: nobody's work depends on it."""
        self._guard.check()
        self._connection.set_busy_timeout(NOTE_MS)
        try:
            with suppress(apsw.BusyError, apsw.FullError, apsw.IOError, apsw.CantOpenError):
                self._connection.execute(sql, bindings)
        finally:
            self._connection.set_busy_timeout(BUSY_MS)

    def rows(self, sql: str, bindings: Bindings = ()) -> list[Row]:
        """All rows of a query."""
        self._guard.check()
        return self._connection.execute(sql, bindings).fetchall()

    def close(self) -> None:
        """Close it."""
        self._connection.close()


def discard_other_boots(runtime: Path, boot_id: str) -> None:
    """Remove what an earlier boot left; nobody of it lives."""
    for path in runtime.glob("live-*.db*"):
        if not path.name.startswith(f"live-{boot_id[:8]}."):
            path.unlink(missing_ok=True)
