"""The two databases for the laws that need them; nothing is ever written to them."""

from __future__ import annotations

from collections.abc import Iterator

import apsw
import pytest

from appliance.store.live import SCHEMA
from tests.house import pages


@pytest.fixture(scope="session")
def ledger(tmp_path_factory: pytest.TempPathFactory) -> Iterator[apsw.Connection]:
    """A connection to a ledger as ``prepare`` makes it on a new box."""
    connection = pages.migrated(tmp_path_factory.mktemp("ledger"))
    yield connection
    connection.close()


@pytest.fixture(scope="session")
def live() -> Iterator[apsw.Connection]:
    """A connection to the tables of ``live.db``."""
    connection = apsw.Connection(":memory:")
    connection.execute(SCHEMA)
    yield connection
    connection.close()
