"""Which kinds of work the releases on this box can do, as the ledger knows them."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Final

from appliance.coordination.handlers import Handler
from appliance.store.ledger import Ledger, Transaction
from appliance.store.statements import load

SQL: Final = load("appliance.coordination", "kinds.sql")


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """A declared kind of job."""

    kind: str
    version: int
    schema: int
    pool: str
    time_limit_ms: int
    failures_max: int
    backoff_ms: int


def _kind(handler: Handler) -> Kind:
    return Kind(
        kind=handler.kind,
        version=handler.version,
        schema=handler.schema,
        pool=handler.pool,
        time_limit_ms=handler.time_limit_ms,
        failures_max=handler.failures_max,
        backoff_ms=handler.backoff_ms,
    )


def declare(tx: Transaction, handlers: Iterable[Handler]) -> None:
    """Tell the ledger what can be done."""
    tx.each(SQL["declare"], [asdict(_kind(handler)) for handler in handlers])


def undeclared(ledger: Ledger, handlers: Iterable[Handler]) -> list[str]:
    """The kinds that the ledger does not know, or knows otherwise: a start that changes nothing writes nothing."""
    there = known(ledger)
    return [handler.kind for handler in handlers if _kind(handler) not in there]


def known(ledger: Ledger) -> list[Kind]:
    """All declared kinds, by name."""
    return [
        Kind(kind=kind, version=version, schema=schema, pool=pool, time_limit_ms=limit, failures_max=failures, backoff_ms=backoff)
        for kind, version, schema, pool, limit, failures, backoff in ledger.read(SQL["known"])
    ]


def reads(handlers: Iterable[Handler]) -> str:
    """What a worker may claim: its (kind, version, schema) triples, as the claim's binding."""
    return json.dumps([[each.kind, each.version, each.schema] for each in handlers])
