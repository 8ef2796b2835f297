"""``kinds.sql``: what the releases on this box can do."""

from __future__ import annotations

from dataclasses import replace

from appliance.coordination import kinds
from tests.ledger.box import KINDS, Box


def test_declared_kinds_are_known(box: Box) -> None:
    """By name, with their limits."""
    found = kinds.known(box.ledger)
    assert [each.kind for each in found] == ["film", "noop", "once"]
    assert [(each.failures_max, each.backoff_ms) for each in found] == [(2, 100), (3, 100), (1, 100)]


def test_a_kind_declared_again_takes_its_new_facts(box: Box) -> None:
    """Unchanged ones write nothing."""
    with box.ledger.write() as tx:
        kinds.declare(tx, KINDS)
        assert tx.connection.changes() == 0
        kinds.declare(tx, [replace(KINDS[0], version=9)])
    assert [each.version for each in kinds.known(box.ledger) if each.kind == "noop"] == [9]


def test_new_work_is_of_the_version_declared_and_old_work_keeps_its_own(box: Box) -> None:
    """Doing it again in another version is another job."""
    old = box.submit(work_id="old")
    with box.ledger.write() as tx:
        kinds.declare(tx, [replace(KINDS[0], version=2, schema=3, failures_max=9)])
    new = box.submit(work_id="new")
    assert box.job(old.id, "version, schema, failures_max") == (1, 1, 3)
    assert box.job(new.id, "version, schema, failures_max") == (2, 3, 9)
    assert not box.submit(work_id="old").new


def test_a_claim_asks_for_kind_version_and_schema() -> None:
    """As the claim's binding."""
    assert kinds.reads(KINDS[:2]) == '[["noop", 1, 1], ["film", 1, 1]]'
