"""A box for tests: a ledger in a folder of its own, a clock that the test moves, and the verbs in one line each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from appliance.clock import Clock
from appliance.coordination import handin, kinds, queue, triggers
from appliance.coordination.decisions import Person
from appliance.coordination.handin import Released, Returned
from appliance.coordination.handlers import Context, Handler
from appliance.coordination.outcomes import Json, Outcome
from appliance.coordination.splits import Step
from appliance.coordination.work import Claimed, FilePlace, Holder, JobId, Submission, Submitted
from appliance.store import migrations
from appliance.store.ledger import Ledger, Place

WALL_MS: Final = 1_800_000_000_000
BOOT_MS: Final = 1_000_000
ANNA: Final = Holder("boot/11/1/anna")
BERT: Final = Holder("boot/12/1/bert")
WHO: Final = Person(who="p", why="because")


def nothing(context: Context, payload: Any) -> Json:  # noqa: ANN401 - a handler takes what was submitted
    """Do nothing; the handlers of these tests are only declared, never called."""
    return None


KINDS: Final = (
    Handler(kind="noop", function=nothing, failures_max=3, backoff_ms=100),
    Handler(kind="film", function=nothing, failures_max=2, backoff_ms=100),
    Handler(kind="once", function=nothing, failures_max=1, backoff_ms=100),
)


@dataclass(slots=True)
class Dial:
    """A clock's hands, moved by the test alone."""

    boot_ms: int = BOOT_MS
    wall_ms: int = WALL_MS
    boot_id: str = "boot"

    def clock(self) -> Clock:
        """The clock that shows what the dial shows."""
        return Clock(boot_ms=lambda: self.boot_ms, wall_ms=lambda: self.wall_ms, boot_id=lambda: self.boot_id)

    def pass_ms(self, ms: int) -> None:
        """Let time go on."""
        self.boot_ms += ms
        self.wall_ms += ms


def place(folder: Path, **how: Any) -> Place:  # noqa: ANN401 - the fields of a Place
    """The place of a ledger in ``folder``, its two folders made."""
    (folder / "state").mkdir(exist_ok=True)
    (folder / "runtime").mkdir(exist_ok=True)
    return Place(state=folder / "state", runtime=folder / "runtime", **how)


def found(where: Place, clock: Clock, handlers: Sequence[Handler] = KINDS) -> Ledger:
    """A ledger as ``prepare`` leaves it: migrated, its kinds declared; and open."""
    migrations.migrate(where, clock, triggers.statements(), release="test")
    ledger = Ledger(where, clock, 1)
    with ledger.write() as tx:
        kinds.declare(tx, handlers)
    return ledger


@dataclass(slots=True)
class Box:
    """An open ledger with its dial."""

    ledger: Ledger
    dial: Dial
    reads: str = field(default_factory=lambda: kinds.reads(KINDS))

    def submit(self, kind: str = "noop", **said: Any) -> Submitted:  # noqa: ANN401 - the fields of a Submission
        """One submission in a transaction of its own."""
        with self.ledger.write() as tx:
            return queue.submit(tx, [Submission(kind=kind, **said)])[0]

    def claim(self, holder: Holder = ANNA, most: int = 100) -> list[Claimed]:
        """What a claim finds now."""
        with self.ledger.write() as tx:
            return queue.claim(tx, self.reads, holder, most)

    def lease(self, kind: str = "noop", holder: Holder = ANNA, **said: Any) -> Claimed:  # noqa: ANN401 - as submit
        """A job submitted and claimed."""
        asked = self.submit(kind, **said)
        (claimed,) = [each for each in self.claim(holder) if each.lease.id == asked.id]
        return claimed

    def hand_in(self, claimed: Claimed, outcome: Outcome | Step | Released, files: tuple[FilePlace, ...] = ()) -> bool:
        """One outcome in a transaction of its own."""
        with self.ledger.write() as tx:
            return handin.hand_in(tx, Returned(claimed=claimed, outcome=outcome, started=tx.now, files=files))

    def job(self, id_: JobId, columns: str = "state") -> Any:  # noqa: ANN401 - a column of any type
        """Columns of a job: a value when it is one, else a tuple."""
        (row,) = self.ledger.read(f"SELECT {columns} FROM job WHERE id = ?", (id_,))  # noqa: S608 - columns are the test's own words
        return row[0] if len(row) == 1 else row

    def one(self, sql: str, *bound: Any) -> Any:  # noqa: ANN401 - a value of any type
        """The one value of a query of one row, or None."""
        rows = self.ledger.read(sql, bound)
        return rows[0][0] if rows else None

    def moves(self, id_: JobId, noun: str = "job") -> list[str]:
        """The moves of a job, or of its parts or split, in the order of commits."""
        rows = self.ledger.read("SELECT move FROM event WHERE job_id = ? AND noun = ? ORDER BY seq", (id_, noun))
        return [move for (move,) in rows]

    def type(self, sql: str, *bound: Any) -> int:  # noqa: ANN401 - as one
        """A statement typed by hand, by somebody who knows no rule; how many rows it changed."""
        with self.ledger.write() as tx:
            tx.rows(sql, bound)
            return tx.connection.changes()


def everything(box: Box) -> list[tuple[object, ...]]:
    """All rows but the history."""
    tables = ("job", "result", "part", "split", "file")
    return [row for table in tables for row in box.ledger.read(f"SELECT * FROM {table} ORDER BY 1, 2")]  # noqa: S608 - named above
