"""The list of excuses may only shrink."""

from __future__ import annotations

import pytest

from tests.house import tree
from tests.house.tree import Breach

MOST = 0  # lower it whenever an excuse goes; never raise it


def test_there_are_no_more_excuses_than_before() -> None:
    """A new breach is mended, not excused."""
    assert sum(map(len, tree.excuses().values())) <= MOST


def test_every_excuse_has_a_reason() -> None:
    """A reason lets the next reader judge whether it still holds."""
    assert all(reason.strip() for files in tree.excuses().values() for reason in files.values())


def test_a_breach_without_an_excuse_breaks_the_law() -> None:
    """The message names file, line and breach."""
    with pytest.raises(AssertionError, match=r"appliance/some\.py:7: too long"):
        tree.hold("sizes", [Breach("appliance/some.py", 7, "too long")])


def test_an_excuse_that_is_no_longer_needed_breaks_the_law(monkeypatch: pytest.MonkeyPatch) -> None:
    """An idle excuse would let the breach come back unseen."""
    monkeypatch.setattr(tree, "excuses", lambda: {"sizes": {"appliance/mended.py": "a reason"}})
    with pytest.raises(AssertionError, match="no longer in need"):
        tree.hold("sizes", [])
