"""A migration that was released never changes, and the printed schema is the sum of all."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence

import apsw
import pytest

from appliance.store.schema import migrations
from tests.house import pages
from tests.house.tree import ROOT

FROZEN = ROOT / "tests" / "house" / "migrations.json"  # number and name of every released migration, and its SHA-256


def changed(frozen: Mapping[str, str], present: Mapping[str, str]) -> Iterator[str]:
    """The released migrations that are gone or differ."""
    for name, sha256 in frozen.items():
        if present.get(name) != sha256:
            yield f"{name} was released and may not change: write a new migration"


def misnumbered(numbers: Sequence[int]) -> bool:
    """Whether the numbers are anything but 1, 2, 3 and so on."""
    return list(numbers) != list(range(1, len(numbers) + 1))


def test_a_released_migration_never_changes() -> None:
    """A box that applied it would have another schema than one that applies it tomorrow."""
    frozen: dict[str, str] = json.loads(FROZEN.read_text(encoding="utf-8"))
    present = {f"{migration.number:04}_{migration.name}": migration.sha256 for migration in migrations()}
    assert not list(changed(frozen, present))


def test_migrations_are_numbered_without_gaps() -> None:
    """The number is the schema number that the ledger stores."""
    assert not misnumbered([migration.number for migration in migrations()])


def test_the_printed_schema_is_the_sum_of_the_migrations(ledger: apsw.Connection) -> None:
    """Print it anew with ``python -m tests.house.pages``."""
    assert pages.SCHEMA.read_text(encoding="utf-8") == pages.schema_page(ledger)


def test_a_migration_changed_after_its_release_is_seen() -> None:
    """Changed, or gone."""
    assert list(changed({"0001_ledger": "aa"}, {"0001_ledger": "bb"}))
    assert list(changed({"0001_ledger": "aa"}, {}))
    assert not list(changed({"0001_ledger": "aa"}, {"0001_ledger": "aa", "0002_more": "cc"}))


@pytest.mark.parametrize("numbers", [[2], [1, 1], [1, 3], [2, 1]])
def test_a_gap_between_migrations_is_seen(numbers: list[int]) -> None:
    """Twice the same number is one as well."""
    assert misnumbered(numbers)
