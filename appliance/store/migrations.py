"""The ledger's schema: frozen SQL files applied in order, each recorded in its own transaction.

``PRAGMA user_version`` is the schema number.  The ledger also stores a floor: the lowest schema number that a program must know
to write to it.  A program below the floor refuses before its first write; one above migrates; migrations are additive, so a
release between them works on.  The triggers are not part of the files: they are made anew from the state tables with each
migration, by the statements that the caller passes in.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import apsw

from appliance import errors
from appliance.clock import Clock
from appliance.store import life, meaning, schema
from appliance.store.engine import connect, require_engine
from appliance.store.ledger import LEDGER, Place
from appliance.store.schema import Migration


def migrate(place: Place, clock: Clock, triggers: Sequence[str], *, release: str) -> list[int]:
    """Make the ledger, or bring it up to this release's schema; the numbers of the migrations applied.

    Raises ``LedgerTooNewError`` when the ledger's floor is above what this release knows, ``LedgerDamagedError``,
    ``StorageFullError`` and ``StorageFailingError``.  Called by ``prepare`` alone, while
    no other process has the ledger open in this release.
    """
    require_engine()
    connection = connect(place.state / LEDGER, psow=place.safe_overwrite, create=True, vfs=place.vfs)
    try:
        with meaning.of_reading():
            schema.require(_floor(connection))
        with meaning.of_writing(lambda: None):
            _use_wal(connection, place)
            applied = [migration.number for migration in schema.migrations() if _apply(connection, migration, release, clock)]
            if schema.newest() == connection.execute("PRAGMA user_version").get:  # a later release's triggers are its own
                _renew_triggers(connection, triggers)
            with _transaction(connection):
                life.begin(connection, clock)
        return applied
    finally:
        connection.close()


def _use_wal(connection: apsw.Connection, place: Place) -> None:
    """Make a new file one that can give pages back (decision 0017), and one with a WAL."""
    connection.execute("PRAGMA auto_vacuum = incremental")
    mode = connection.execute("PRAGMA journal_mode = wal").get
    connection.execute(f"PRAGMA synchronous = {place.synchronous}")
    connection.execute("PRAGMA wal_autocheckpoint = 0")
    if mode != "wal":
        message = f"the ledger's filesystem does not take a WAL (journal mode is {mode})"
        raise errors.StorageUnsuitableError(message)


def _floor(connection: apsw.Connection) -> int:
    """What the ledger asks of a program; a file without a schema asks for nothing."""
    floor: int = connection.execute("SELECT floor FROM ledger").get if connection.execute("PRAGMA user_version").get else 0
    return floor


@contextmanager
def _transaction(connection: apsw.Connection) -> Iterator[None]:
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def _apply(connection: apsw.Connection, migration: Migration, release: str, clock: Clock) -> bool:
    with _transaction(connection):
        if connection.execute("PRAGMA user_version").get >= migration.number:
            return False
        connection.execute(migration.sql)
        connection.execute(f"PRAGMA user_version = {migration.number}")
        connection.execute(
            "INSERT INTO migration(number, name, sha256, release, applied_wall_ms) VALUES (?, ?, ?, ?, ?)",
            (migration.number, migration.name, migration.sha256, release, clock.wall().ms),
        )
        return True


def _renew_triggers(connection: apsw.Connection, triggers: Sequence[str]) -> None:
    """Make the triggers and move tables anew, unless they are just these."""
    digest = hashlib.sha256("\n".join(triggers).encode()).hexdigest()
    if connection.execute("SELECT triggers_sha256 FROM ledger").get == digest:
        return
    with _transaction(connection):
        for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'trigger'").fetchall():
            connection.execute(f'DROP TRIGGER "{name}"')
        connection.execute("DELETE FROM move")
        for statement in triggers:
            connection.execute(statement)
        connection.execute("UPDATE ledger SET triggers_sha256 = ?", (digest,))
