"""The ledger's schema: frozen SQL files applied in order, each recorded in its own transaction.

``PRAGMA user_version`` is the schema number.  The ledger also stores a floor: the lowest schema number that a program must know
to write to it.  A program below the floor refuses before its first write; one above migrates; migrations are additive, so a
release between them works on.  The triggers are not part of the files: they are made anew from the state tables with each
migration, by the statements that the caller passes in.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Final

import apsw

from appliance import errors
from appliance.clock import Clock
from appliance.store import schema
from appliance.store.engine import connect, require_engine
from appliance.store.ledger import LEDGER, Place
from appliance.store.schema import Migration


def migrate(place: Place, clock: Clock, triggers: Sequence[str], *, boot_id: str, release: str) -> list[int]:
    """Make the ledger, or bring it up to this release's schema; the numbers of the migrations applied.

    Raises ``LedgerTooNewError`` when the ledger's floor is above what this release knows.  Called by ``prepare`` alone, while
    no other process has the ledger open in this release.
    """
    require_engine()
    known = schema.migrations()
    connection = connect(place.state / LEDGER, psow=place.safe_overwrite, create=True, vfs=place.vfs)
    try:
        schema.require(_floor(connection))
        mode = connection.execute("PRAGMA journal_mode = wal").get
        connection.execute(f"PRAGMA synchronous = {place.synchronous}")
        connection.execute("PRAGMA wal_autocheckpoint = 0")
        if mode != "wal":
            message = f"the ledger's filesystem does not take a WAL (journal mode is {mode})"
            raise errors.StorageUnsuitableError(message)
        applied = [migration.number for migration in known if _apply(connection, migration, release, clock)]
        if (
            connection.execute("PRAGMA user_version").get == known[-1].number
        ):  # a later release's triggers are not this one's to renew
            _renew_triggers(connection, triggers)
        _begin_life(connection, clock, boot_id)
        return applied
    finally:
        connection.close()


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


TRUSTED_WALL_MS: Final = 1_735_689_600_000  # 2025-01-01: a clock that reads earlier has not been set since power came
OFF_MS_MAX: Final = 10 * 366 * 86_400_000


def offset_after_boot(*, last_ledger_ms: int, last_wall_ms: int, boot_ms: int, wall_ms: int) -> int:
    """The ledger's offset in a new boot: its time goes on from the last stored value, plus the time off.

    The time off counts only where both wall readings are trusted and it is neither negative nor over ten years.
    """
    off_ms = wall_ms - last_wall_ms
    trusted = min(wall_ms, last_wall_ms) >= TRUSTED_WALL_MS and 0 <= off_ms <= OFF_MS_MAX
    return last_ledger_ms + (off_ms if trusted else 0) - boot_ms


def _begin_life(connection: apsw.Connection, clock: Clock, boot_id: str) -> None:
    """Give a new ledger its incarnation, and every ledger its offset in this boot."""
    boot_ms, wall_ms = clock.boot().ms, clock.wall().ms
    with _transaction(connection):
        incarnation, known_boot, ledger_ms, at_wall_ms = connection.execute(
            "SELECT incarnation, boot_id, at_ms, wall_ms FROM ledger"
        ).get
        if known_boot == boot_id:
            return
        if incarnation:
            last_ms = max(
                ledger_ms, connection.execute("SELECT max(at_ms) FROM event WHERE seq = (SELECT max(seq) FROM event)").get or 0
            )
            last_wall_ms = at_wall_ms + (last_ms - ledger_ms)
            offset_ms = offset_after_boot(last_ledger_ms=last_ms, last_wall_ms=last_wall_ms, boot_ms=boot_ms, wall_ms=wall_ms)
        else:
            incarnation, offset_ms = secrets.token_hex(8), wall_ms - boot_ms
        connection.execute(
            "UPDATE ledger SET incarnation = ?, boot_id = ?, offset_ms = ?, at_ms = ?, wall_ms = ?",
            (incarnation, boot_id, offset_ms, boot_ms + offset_ms, wall_ms),
        )
