"""``ledger.db``: what must survive.  One writer thread of a process owns one ``Ledger``.

Promises
    A transaction that returned is on the disk: every commit is ``synchronous=FULL`` and nothing weaker is ever mixed in.
    "Database is locked" never surfaces: writers queue at the turnstile, then begin immediate.
    A read fetches fully and ends; one that lasts past its age limit is ended.

Invariant
    While a transaction is open the process holds the turn, and no code but SQL and plain Python runs: no I/O, no handler.

It never
    commits twice, retries a commit, or calls a commit that raised a "no": after a failed sync the transaction may come back at
    the next start, so ``StorageFailingError`` means "unknown", and asking again with the same identity is harmless.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal

import apsw

from appliance import errors, limits
from appliance.clock import Clock, LedgerInstant
from appliance.store import life, marker, meaning, schema
from appliance.store.engine import BUSY_MS, Guard, connect, require_engine
from appliance.store.turnstile import TurnPage, Turnstile
from appliance.store.wake import Waker

LEDGER: Final = "ledger.db"
LOOK_MS: Final = 1_000  # how long a look at a foreign lock takes, far below the limit of a turn
PROGRESS_STEPS: Final = 20_000  # virtual machine steps between two looks at a read's age
Row = tuple[Any, ...]
Bindings = Mapping[str, Any] | Sequence[Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a ledger lives and how its storage is to be treated.

    ``safe_overwrite`` says that a torn write cannot damage its neighbours (powersafe overwrite: battery-backed or server-grade
    disks); unless configured, it is not assumed.  ``synchronous`` and ``vfs`` are for the power-cut tests alone.
    """

    state: Path
    runtime: Path
    safe_overwrite: bool = False
    synchronous: Literal["full", "normal"] = "full"
    vfs: str | None = None


@dataclass(frozen=True, slots=True)
class Transaction:
    """An open write transaction: ``now`` is one instant for all of it, ``topics`` are woken after its commit.

    ``wal_bytes`` is the size of the WAL at its begin.
    """

    connection: apsw.Connection
    now: LedgerInstant
    wal_bytes: int
    topics: set[str] = field(default_factory=set)

    def require_room(self) -> None:
        """Raise ``WalFullError`` when the WAL is over its bound: whoever takes in new work asks first."""
        if self.wal_bytes > limits.WAL_BYTES_MAX:
            message = f"the WAL has {self.wal_bytes} bytes and cannot be emptied while something reads; no new work is taken in"
            raise errors.WalFullError(message)

    def rows(self, sql: str, bindings: Bindings = ()) -> list[Row]:
        """All rows of one statement."""
        return self.connection.execute(sql, bindings).fetchall()

    def row(self, sql: str, bindings: Bindings = ()) -> Row | None:
        """The first row, or None; the statement is run to its end."""
        rows = self.connection.execute(sql, bindings).fetchall()
        return rows[0] if rows else None

    def each(self, sql: str, bindings: Iterable[Bindings]) -> list[Row]:
        """The rows of one statement for many bindings, in order."""
        return self.connection.executemany(sql, bindings).fetchall()


class Ledger:
    """An open ledger: ``write()`` for a transaction, ``read()`` for a bounded read."""

    def __init__(self, place: Place, clock: Clock, start_ticks: int, waiting: Callable[[], None] = lambda: None) -> None:
        """Open an existing ledger.

        Raises ``EngineTooOldError``, ``LedgerMissingError`` where there is none, ``LedgerTooNewError`` and ``LedgerDamagedError``.
        ``start_ticks`` is this process's start time, which with its pid names it on the turnstile's page.  ``waiting`` is called
        once a second while a program that does not queue keeps a transaction from beginning.
        """
        require_engine()
        if not (place.state / LEDGER).exists():
            message = f"there is no ledger in {place.state}"
            raise errors.LedgerMissingError(message)
        self.place = place
        self._wrote = False
        self._guard = Guard()
        self._clock = clock
        self._waiting = waiting
        self._connection = connect(place.state / LEDGER, psow=place.safe_overwrite, vfs=place.vfs)
        offset_ms = self._look()
        self._connection.execute(f"PRAGMA synchronous = {place.synchronous}")
        self._connection.execute("PRAGMA wal_autocheckpoint = 0")
        self._page = TurnPage(place.runtime)
        self._turnstile = Turnstile(place.state, self._page, clock, start_ticks)
        self._waker = Waker(place.runtime)
        self._clock = clock.with_offset(offset_ms)

    def _look(self) -> int:
        """See that the file is a ledger that this release understands; the offset of its time."""
        try:
            with meaning.of_reading():
                if not self._connection.execute("PRAGMA user_version").get:
                    message = f"the ledger in {self.place.state} is not made yet"
                    raise errors.LedgerMissingError(message)
                rows: list[Row] = self._connection.execute("SELECT floor FROM ledger").fetchall()
                schema.require(rows[0][0])
                return life.offset_ms(self._connection, self._clock)
        except errors.ApplianceError:
            self._connection.close()
            raise

    @property
    def clock(self) -> Clock:
        """The clock whose ``ledger()`` is this ledger's time."""
        return self._clock

    def failing(self) -> bool:
        """Whether a sync failed: intake must refuse, reads may go on."""
        return self._page.failing()

    @contextmanager
    def write(self) -> Iterator[Transaction]:
        """One transaction, in turn.

        On an exception inside, nothing of it remains.  Raises ``StorageFailingError`` when the storage is failing, or fails
        now: then it is unknown whether the transaction took hold.
        """
        self._guard.check()
        with self._turnstile, meaning.of_writing(self._failing):
            self._refuse_failing()
            wal_bytes = self.wal_bytes()
            self._first_write()
            self._begin()
            transaction = Transaction(self._connection, self._clock.ledger(), wal_bytes)
            try:
                yield transaction
                self._connection.execute("COMMIT")
            except BaseException:
                with suppress(apsw.Error):
                    if self._connection.in_transaction:
                        self._connection.execute("ROLLBACK")
                raise
        if transaction.topics:
            self._waker.wake(transaction.topics)

    def _first_write(self) -> None:
        """From now on the last stop was not a clean one any more."""
        if not self._wrote:
            marker.take_away(self.place.state)
            self._wrote = True

    def _begin(self) -> None:
        """Begin; wait for a program that does not queue, with a new ticket for each look, as whoever keeps one looks frozen."""
        self._connection.set_busy_timeout(LOOK_MS)
        try:
            for looks_left in reversed(range(BUSY_MS // LOOK_MS)):
                try:
                    self._connection.execute("BEGIN IMMEDIATE")
                except apsw.BusyError:
                    if not looks_left:
                        raise
                    self._turnstile.renew()
                    self._waiting()
                else:
                    return
        finally:
            self._connection.set_busy_timeout(BUSY_MS)

    def _refuse_failing(self) -> None:
        if self._page.failing():
            message = "the ledger's storage failed a sync; nothing new is taken in until a restart finds it well"
            raise errors.StorageFailingError(message)

    def _failing(self) -> None:
        self._page.latch_failing(self._clock.boot())

    def read(self, sql: str, bindings: Bindings = (), *, rows_max: int = limits.READ_ROWS_MAX) -> list[Row]:
        """All rows of a query, at most ``rows_max`` of them.

        Raises ``ReadTooOldError`` past ``limits.READ_MS_MAX``, ``StorageFailingError`` and ``LedgerDamagedError``.
        """
        self._guard.check()
        deadline = self._clock.boot() + limits.READ_MS_MAX
        self._connection.set_progress_handler(lambda: self._clock.boot() > deadline, PROGRESS_STEPS)
        try:
            with meaning.of_reading():
                cursor = self._connection.execute(sql, bindings)
                rows = [row for row, _ in zip(cursor, range(rows_max), strict=False)]
                cursor.close(force=True)
        except apsw.InterruptError as error:
            message = f"a read was ended after {limits.READ_MS_MAX} ms"
            raise errors.ReadTooOldError(message) from error
        finally:
            self._connection.set_progress_handler(None)
        return rows

    def checkpoint(self) -> tuple[int, int]:
        """Move the WAL into the file and empty it if no reader stands in the way; (pages in the WAL, pages moved).

        A step of its own, never part of a COMMIT: a checkpoint that fails must not make a finished commit look failed.  What
        is there is moved beside the writers; only what they have added since, and the emptying, takes the turn.
        Raises ``StorageFailingError`` when a write or sync of it fails.
        """
        self._guard.check()
        self._refuse_failing()
        with meaning.of_writing(self._failing), suppress(apsw.BusyError):
            self._connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)
        with self._turnstile, meaning.of_writing(self._failing):
            self._refuse_failing()
            self._connection.set_busy_timeout(0)
            try:
                return self._connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
            except apsw.BusyError:
                return self._connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)
            finally:
                self._connection.set_busy_timeout(BUSY_MS)

    def wal_bytes(self) -> int:
        """The size of the WAL; a stat, which opens nothing."""
        try:
            return (self.place.state / f"{LEDGER}-wal").stat().st_size
        except FileNotFoundError:
            return 0

    def close(self) -> None:
        """Close all; the WAL stays for the steward to empty."""
        self._guard.check()
        self._connection.close()
        self._turnstile.close()
        self._page.close()
        self._waker.close()
