"""What a person decides about a job: decide, correct, revive, cancel.  Each says who and why."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, Literal

from appliance import errors, limits
from appliance.coordination.outcomes import Json
from appliance.coordination.states import Actor
from appliance.coordination.work import JobId, cut, digest, encode
from appliance.store.ledger import Transaction
from appliance.store.statements import load

SQL: Final = load("appliance.coordination", "decisions.sql")
Decided = Literal["done", "rejected", "ready"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """Who decides, and why."""

    who: str
    why: str

    @property
    def cause(self) -> str:
        """As it stands in the history."""
        return cut(f"{self.who}: {self.why}") or ""


def _stands(tx: Transaction, id_: JobId) -> tuple[str, int]:
    row = tx.row(SQL["stands"], {"id": id_})
    if row is None:
        message = f"there is no job {id_}"
        raise errors.NoSuchJobError(message)
    return row[0], row[1]


def _move(tx: Transaction, name: str, id_: JobId, facts: dict[str, Any]) -> tuple[Any, ...]:
    """One guarded statement for one job; the fence is read in the same transaction.

    Raises ``NoSuchJobError``, and ``MoveRefusedError`` when the job stands elsewhere.
    """
    state, attempt = _stands(tx, id_)
    row = tx.row(SQL[name], {"id": id_, "attempt": attempt, "now": tx.now.ms} | facts)
    if row is None:
        message = f"job {id_} is {state}, and {name} does not lead on from there"
        raise errors.MoveRefusedError(message)
    tx.topics.update(("work", "ends"))
    return row


def decide(tx: Transaction, id_: JobId, became: Decided, person: Person, result: Json = None) -> None:
    """Answer the question of an unclear job: done with a result, rejected, or ready for another attempt."""
    _, attempt = _stands(tx, id_)
    if became == "done":
        value = encode(result, limits.RESULT_BYTES_MAX, "result")
        tx.rows(SQL["keep_decided"], {"id": id_, "attempt": attempt, "value": value, "sha256": digest(value), "now": tx.now.ms})
    _move(tx, "decide", id_, {"became": became, "cause": person.cause})


def correct(tx: Transaction, id_: JobId, payload: Json, person: Person) -> None:
    """Give a rejected job another payload, and another chance."""
    _move(tx, "correct", id_, {"payload": encode(payload, limits.PAYLOAD_BYTES_MAX, "payload"), "cause": person.cause})


def revive(tx: Transaction, id_: JobId, person: Person) -> None:
    """Give a dead job its failures back."""
    _move(tx, "revive", id_, {"cause": person.cause})


def cancel(tx: Transaction, id_: JobId, person: Person, actor: Actor = Actor.PERSON) -> str:
    """Cancel a job that nobody works on, or ask those who do; ``cancelled`` or ``asked``."""
    state, _ = _stands(tx, id_)
    facts = {"actor": actor, "cause": person.cause}
    if state in ("leased", "gathering"):
        _move(tx, "ask", id_, facts)
        tx.topics.add("ask")
        return "asked"
    _move(tx, "cancel", id_, facts)
    return "cancelled"
