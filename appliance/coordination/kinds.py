"""Which kinds of work the releases on this box can do, as the ledger knows them."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
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


def declare(tx: Transaction, handlers: Iterable[Handler]) -> None:
    """Tell the ledger what can be done; unchanged kinds write nothing."""
    tx.each(
        SQL["declare"],
        [
            {
                "kind": each.kind,
                "version": each.version,
                "schema": each.schema,
                "pool": each.pool,
                "time_limit_ms": each.time_limit_ms,
                "failures_max": each.failures_max,
                "backoff_ms": each.backoff_ms,
            }
            for each in handlers
        ],
    )


def known(ledger: Ledger) -> list[Kind]:
    """All declared kinds, by name."""
    return [
        Kind(kind=kind, version=version, schema=schema, pool=pool, time_limit_ms=limit, failures_max=failures, backoff_ms=backoff)
        for kind, version, schema, pool, limit, failures, backoff in ledger.read(SQL["known"])
    ]


def reads(handlers: Iterable[Handler]) -> str:
    """What a worker may claim: its (kind, version, schema) triples, as the claim's binding."""
    return json.dumps([[each.kind, each.version, each.schema] for each in handlers])
