"""The SQLite engine: its floor, and the one way a connection comes into being.

A connection belongs to the process that opened it.  One carried over a fork would share file offsets and drop the parent's locks
when it closes, so ``Guard`` refuses it at every use, and processes are forked only while none is open.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final
from urllib.parse import quote

import apsw

from appliance import errors, limits

REFUSED: Final = apsw.ConstraintError  # a trigger or a CHECK said no: nothing of the statement remains, and no COMMIT was tried
BUSY_MS: Final = 30_000  # between turns only checkpoints and first opens can be in the way


def engine_version() -> str:
    """The version of the SQLite engine that is at work."""
    return apsw.sqlite_lib_version()


def require_engine(version: str | None = None) -> None:
    """Refuse an engine below the floor.

    Raises ``EngineTooOldError``: WAL engines from 3.7.0 to 3.51.2 can lose a reset race between a writer and a checkpoint.
    """
    found = version or engine_version()
    if tuple(int(number) for number in found.split(".")) < limits.ENGINE_FLOOR:
        message = f"the SQLite engine is {found}, the store needs {'.'.join(map(str, limits.ENGINE_FLOOR))}"
        raise errors.EngineTooOldError(message)


@dataclass(frozen=True, slots=True)
class Guard:
    """Remembers the process that made it and refuses any other."""

    pid: int = field(default_factory=os.getpid)

    def check(self) -> None:
        """Raise ``ForeignConnectionError`` in a process that did not open the connection."""
        if os.getpid() != self.pid:
            message = f"a connection opened by process {self.pid} was used in process {os.getpid()}"
            raise errors.ForeignConnectionError(message)


def connect(path: Path, *, psow: bool = True, create: bool = False, vfs: str | None = None) -> apsw.Connection:
    """Open ``path``; the busy time is set before any pragma can meet a lock.

    ``psow=False`` tells SQLite that a torn sector may damage its neighbours (flash), at the price of padded commits.
    """
    flags = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_URI | (apsw.SQLITE_OPEN_CREATE if create else 0)
    connection = apsw.Connection(f"file:{quote(str(path))}?psow={int(psow)}", flags=flags, vfs=vfs, statementcachesize=200)
    connection.set_busy_timeout(BUSY_MS)
    connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
    connection.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 1)
    connection.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)  # a plan never depends on what is bound, so it is made once
    for pragma in (
        "trusted_schema = off",
        "cell_size_check = on",
        "foreign_keys = on",
        "recursive_triggers = on",
        "temp_store = memory",
    ):
        connection.execute(f"PRAGMA {pragma}")
    return connection
