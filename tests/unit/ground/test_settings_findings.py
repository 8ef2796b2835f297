"""What is wrong with settings is said with the key that a person has to correct."""

from __future__ import annotations

from typing import Any

import pytest

from appliance import settings


@pytest.mark.parametrize(
    ("table", "key"),
    [
        ({"pools": {"good": {}, "bad": {"workers": "many"}}}, "pools.bad.workers"),
        ({"pools": {"bad": {"workers": 0}}}, "pools.bad.workers"),
        ({"pools": {"bad": {"worker": 1}}}, "pools.bad"),
        ({"pools": {"bad": 5}}, "pools.bad"),
        ({"pools": 5}, "pools"),
        ({"stop": {"seconds": 0}}, "stop.seconds"),
        ({"handlers": {"modules": [5]}}, "handlers.modules[0]"),
        ({"nonsense": 1}, "(top)"),
    ],
)
def test_a_finding_names_the_key(table: dict[str, Any], key: str) -> None:
    """Down to the pool, and to the place in a list."""
    found, findings = settings.read([table])
    assert found is None
    assert [finding.key for finding in findings] == [key]
