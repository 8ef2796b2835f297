"""Terms: one holder's tenure of a singleton, with a number that only grows and fences everything the holder writes.

Who holds a term is decided by an exclusive ``flock`` on the term's own file, held for life: the kernel hands it over when the
holder dies.  The number is raised in the ledger on entry; every transaction of the holder begins with ``require``.
"""

from __future__ import annotations

import fcntl
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from appliance import errors
from appliance.coordination.work import Holder
from appliance.store.ledger import Transaction
from appliance.store.statements import load

SQL: Final = load("appliance.coordination", "terms.sql")


@dataclass(frozen=True, slots=True, kw_only=True)
class Term:
    """A tenure: name, number, holder."""

    name: str
    number: int
    holder: Holder


class Seat:
    """The file whose lock is the right to a term.  Open it after the fork: the lock belongs to the open file."""

    def __init__(self, state: Path, name: str) -> None:
        """Open the seat of the singleton ``name``; taking it is a step of its own."""
        self.name = name
        self._descriptor = os.open(state / f"{name}.term", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)

    def take(self) -> None:
        """Wait until nobody else has it, then have it for life.  The wait is the campaign: it ends when the holder dies."""
        fcntl.flock(self._descriptor, fcntl.LOCK_EX)

    def try_take(self) -> bool:
        """Have it if nobody else does."""
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def close(self) -> None:
        """Resign."""
        os.close(self._descriptor)


def enter(tx: Transaction, name: str, holder: Holder) -> Term:
    """Raise the term's number: from this commit on, every write of an earlier holder is refused."""
    row = tx.row(SQL["enter"], {"name": name, "holder": holder, "now": tx.now.ms})
    return Term(name=name, number=row[0] if row else 0, holder=holder)


def require(tx: Transaction, term: Term) -> None:
    """First in every transaction of a holder.

    Raises ``TermLostError`` when the term has passed on; the transaction then leaves nothing.
    """
    if not tx.row(SQL["stands"], {"name": term.name, "number": term.number, "holder": term.holder}):
        message = f"the term {term.number} of {term.name} has passed to another process"
        raise errors.TermLostError(message)
