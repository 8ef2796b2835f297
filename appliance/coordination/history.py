"""Looking: what the ledger says of jobs, without taking a turn."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import Any, Final

from appliance import errors
from appliance.clock import LedgerInstant, WallInstant
from appliance.coordination.states import State
from appliance.coordination.work import FilePlace, JobId
from appliance.store.ledger import Ledger
from appliance.store.statements import load

SQL: Final = load("appliance.coordination", "history.sql")
NEWEST: Final = 1 << 62


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """A job as it stands.  ``payload`` and ``result`` are JSON; instants are the ledger's."""

    id: int
    kind: str
    work_id: str
    version: int
    round: int
    state: str
    priority: int
    due: LedgerInstant
    payload: Any
    attempt: int
    failures: int
    failures_max: int
    starts: int
    holder: str | None
    cancel_asked: LedgerInstant | None
    error_class: str | None
    error_text: str | None
    submitted: LedgerInstant
    started: LedgerInstant | None
    moved: LedgerInstant
    ended: LedgerInstant | None
    result: Any
    sha256: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """A job in a list."""

    id: int
    kind: str
    work_id: str
    state: str
    attempt: int
    failures: int
    submitted: LedgerInstant
    moved: LedgerInstant
    error_text: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One line of history."""

    seq: int
    at: LedgerInstant
    noun: str
    ordinal: int | None
    move: str
    was: str | None
    became: str | None
    attempt: int | None
    started: LedgerInstant | None
    actor: str
    holder: str | None
    cause: str | None


COLUMNS: Final = tuple(each.name for each in fields(Shown))


def _instant(ms: int | None) -> LedgerInstant | None:
    return None if ms is None else LedgerInstant(ms)


def show(ledger: Ledger, id_: int) -> Shown:
    """A job as it stands.  Raises ``NoSuchJobError``."""
    rows = ledger.read(SQL["show"], {"id": id_})
    if not rows:
        message = f"there is no job {id_}"
        raise errors.NoSuchJobError(message)
    row = dict(zip(COLUMNS, rows[0], strict=True))
    for name in ("due", "submitted", "moved"):
        row[name] = LedgerInstant(row[name])
    for name in ("cancel_asked", "started", "ended"):
        row[name] = _instant(row[name])
    for name in ("payload", "result"):
        row[name] = None if row[name] is None else json.loads(row[name])
    return Shown(**row)


def state(ledger: Ledger, id_: int) -> str:
    """Where a job stands.  Raises ``NoSuchJobError``."""
    rows = ledger.read(SQL["state"], {"id": id_})
    if not rows:
        message = f"there is no job {id_}"
        raise errors.NoSuchJobError(message)
    found: str = rows[0][0]
    return found


def ended(ledger: Ledger, ids: Iterable[int]) -> dict[int, str]:
    """The states of those among these jobs that have come to an end or to a question: one look for all."""
    return dict(ledger.read(SQL["ended"], {"ids": json.dumps(list(ids))}))


def newest(ledger: Ledger, *, most: int, before: int = NEWEST, only: State | None = None) -> list[Listed]:
    """Jobs from the newest back, of all states or of one."""
    facts = {"before": before, "most": most, "state": only}
    return [
        Listed(
            id=id_,
            kind=kind,
            work_id=work_id,
            state=state_,
            attempt=attempt,
            failures=failures,
            submitted=LedgerInstant(submitted),
            moved=LedgerInstant(moved),
            error_text=error_text,
        )
        for id_, kind, work_id, state_, attempt, failures, submitted, moved, error_text in ledger.read(
            SQL["newest_in_state" if only else "newest"], facts
        )
    ]


def events(ledger: Ledger, id_: int, *, after: int = 0, most: int = 1_000) -> list[Event]:
    """The history of a job and its parts, in order."""
    return [
        Event(
            seq=seq,
            at=LedgerInstant(at),
            noun=noun,
            ordinal=ordinal,
            move=move,
            was=was,
            became=became,
            attempt=attempt,
            started=_instant(started),
            actor=actor,
            holder=holder,
            cause=cause,
        )
        for seq, at, noun, ordinal, move, was, became, attempt, started, actor, holder, cause in ledger.read(
            SQL["of_job"], {"id": id_, "after": after, "most": most}
        )
    ]


def counts(ledger: Ledger) -> dict[str, int]:
    """How many jobs there are in each state."""
    return dict(ledger.read(SQL["counts"]))


def files(ledger: Ledger, id_: int) -> list[FilePlace]:
    """The files of a job's result."""
    return [
        FilePlace(id=JobId(id_), attempt=attempt, ordinal=ordinal, part_attempt=part, name=name, size_bytes=size, sha256=sha256)
        for attempt, ordinal, part, name, size, sha256 in ledger.read(SQL["files"], {"id": id_})
    ]


def wall(ledger: Ledger, at: LedgerInstant) -> WallInstant:
    """The wall time that belonged to an instant of the ledger, as far as the clock of its boot was right."""
    ((at_ms, wall_ms),) = ledger.read(SQL["anchor"])
    return WallInstant(at.ms - at_ms + wall_ms)
