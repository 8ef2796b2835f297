"""After a sync of the ledger failed: what a restart does before anything is taken in again.

A kernel that could not write a page reports it once, at the sync, and then takes the page for clean: the file reads as it was
written, the disk has something else, and a later sync succeeds without writing it.  The WAL that a restart reads may so end in
frames that are in memory only; commits appended behind them would be synced, acknowledged, and lost with the power, since a WAL is
valid up to its first gap.  So every byte of the WAL is written once more, which makes it dirty again, and synced, while all writers
are refused by the latch; then it is emptied into the file.  Only when both succeed is the latch opened (decision 0016).
"""

from __future__ import annotations

import os
from typing import Final

import apsw

from appliance import errors
from appliance.clock import Clock
from appliance.store.engine import connect
from appliance.store.ledger import LEDGER, Place
from appliance.store.turnstile import TurnPage, Turnstile

CHUNK_BYTES: Final = 1 << 20


def recover(place: Place, clock: Clock, start_ticks: int) -> bool:
    """Open the latch if the storage is well again; whether there was anything to recover.

    Raises ``StorageFailingError`` when it is still failing; the latch then stays.
    """
    page = TurnPage(place.runtime)
    turnstile = Turnstile(place.state, page, clock, start_ticks)
    try:
        with turnstile:
            if not page.failing():
                return False
            _write_again(place)
            _empty(place)
            page.open_latch()
            return True
    except (OSError, apsw.IOError, apsw.FullError, apsw.CorruptError) as error:
        message = f"the ledger's storage is still failing: {error}"
        raise errors.StorageFailingError(message) from error
    finally:
        turnstile.close()
        page.close()


def _write_again(place: Place) -> None:
    """Make every page of the WAL dirty, and sync it.  SQLite keeps no lock on this file, so to open it drops none."""
    try:
        descriptor = os.open(place.state / f"{LEDGER}-wal", os.O_RDWR | os.O_CLOEXEC)
    except FileNotFoundError:
        return
    try:
        offset = 0
        while content := os.pread(descriptor, CHUNK_BYTES, offset):
            offset += os.pwrite(descriptor, content, offset)
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _empty(place: Place) -> None:
    """Move the WAL into the file, as far as readers let it: the proof that the file takes writes too."""
    connection = connect(place.state / LEDGER, psow=place.safe_overwrite, vfs=place.vfs)
    try:
        connection.execute("PRAGMA synchronous = full")
        connection.execute("PRAGMA wal_autocheckpoint = 0")
        connection.set_busy_timeout(0)
        try:
            connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
        except apsw.BusyError:
            connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)
    finally:
        connection.close()
