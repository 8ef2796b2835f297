"""Who is alive, in ``live.db``: each process enters itself when it starts, and leaves; the steward removes the dead."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from appliance.clock import BootInstant
from appliance.coordination.work import Holder, Lease
from appliance.store.live import Live
from appliance.store.statements import load

SQL: Final = load("appliance.coordination", "processes.sql")


@dataclass(frozen=True, slots=True, kw_only=True)
class Entered:
    """A process as it entered itself.  ``holder`` is its text form; ``kind`` worker, steward; ``name`` its place."""

    holder: Holder
    kind: str
    name: str
    release: str
    started: BootInstant


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How far a piece of work has come."""

    ordinal: int
    attempt: int
    done: int
    total: int
    at: BootInstant


def enter(live: Live, process: Entered) -> None:
    """Enter a process."""
    with live.write() as connection:
        connection.execute(
            SQL["enter"],
            {
                "holder": process.holder,
                "kind": process.kind,
                "name": process.name,
                "release": process.release,
                "started_boot_ms": process.started.ms,
            },
        )


def leave(live: Live, holder: Holder) -> None:
    """Remove a process that ended, or is about to; where that has to wait, whoever finds it dead does so again."""
    live.note(SQL["leave"], {"holder": holder})


def entered(live: Live) -> list[Entered]:
    """All processes that entered and did not leave; some may be dead."""
    return [
        Entered(holder=Holder(holder), kind=kind, name=name, release=release, started=BootInstant(started))
        for holder, kind, name, release, started in live.rows(SQL["all"])
    ]


def note_progress(live: Live, lease: Lease, done: int, total: int, at: BootInstant) -> None:
    """Note how far a lease's work has come.  Not in the ledger: fast streams never pass through it."""
    live.note(SQL["progress"], _of(lease) | {"done": done, "total": total, "at_boot_ms": at.ms})


def forget_progress(live: Live, lease: Lease) -> None:
    """The work ended; its progress is no longer news."""
    live.note(SQL["forget_progress"], _of(lease))


def _of(lease: Lease) -> dict[str, int]:
    return {"id": lease.id, "ordinal": -1 if lease.ordinal is None else lease.ordinal, "attempt": lease.fence}


def progress_of(live: Live, id_: int) -> list[Progress]:
    """How far a job and its parts have come."""
    return [
        Progress(ordinal=ordinal, attempt=attempt, done=done, total=total, at=BootInstant(at))
        for ordinal, attempt, done, total, at in live.rows(SQL["progress_of"], {"id": id_})
    ]
