"""What the steward does with the leases of a dead process: the kernel knows who is dead, so nothing waits for a timeout."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from appliance.coordination import backoff, leases, splits
from appliance.coordination.leases import Failure, Held
from appliance.coordination.states import Actor
from appliance.coordination.work import Holder, Lease
from appliance.store.ledger import Transaction


@dataclass(frozen=True, slots=True, kw_only=True)
class Death:
    """How a holder ended.

    ``lease`` is the work that was going on, None when none was; ``known`` is False when nobody can say what it died of (the power
    went, or it died between two pieces of work: of what it had just done, perhaps, and not handed in).
    ``charged`` says whether this cause counts as a failure of that work.
    """

    cause: str
    charged: bool
    lease: Lease | None
    known: bool = True


def free(tx: Transaction, holder: Holder, death: Death, backoff_ms: Callable[[str], int], chance: float) -> list[Lease]:
    """Free everything that a dead holder held; the leases freed.

    The work that was going on is charged, the rest is released.  Where nobody knows which it was, each may have been: none is
    charged, each counts a start.  Idempotent: a second call finds nothing held.
    """
    asked = leases.asked(tx, holder)
    found = leases.held(tx, holder)
    for each in found:
        going_on = each.lease == death.lease
        if each.lease.noun == "job" and (each.lease.id, each.lease.attempt) in asked:
            leases.stop(tx, each.lease, started=going_on, cause=death.cause, actor=Actor.STEWARD)
        elif going_on and death.charged:
            _charge(tx, each, death.cause, backoff.delay_after_death_ms(each.failures, backoff_ms(each.kind), chance))
        else:
            hand_back = leases.release if each.lease.noun == "job" else splits.release
            hand_back(tx, each.lease, started=going_on or not death.known, cause=death.cause, actor=Actor.STEWARD)
    return [each.lease for each in found]


def _charge(tx: Transaction, each: Held, cause: str, after_ms: int) -> None:
    failure = Failure(error_class=f"died.{cause}", error_text=f"its process died: {cause}", after_ms=after_ms, actor=Actor.STEWARD)
    count = leases.fail if each.lease.noun == "job" else splits.fail
    count(tx, each.lease, failure)
