"""Whoever silences a tool says why, on the spot; and everything is caught in five kinds of place only."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from tests.house import tree
from tests.house.tree import Breach, Source

SILENCED = re.compile(r"#\s*(noqa|type:\s*ignore|pragma:|pylint:|mypy:)", re.IGNORECASE)
WITH_REASON = re.compile(r"#\s*(?:noqa: [A-Z0-9, ]+|type: ignore\[[a-z, -]+\])\s*(?:#|-)\s+\S.*")
BULKHEADS_MOST = 5  # around a handler, a duty's pass, a request, a check of the doctor, and in __main__
CATCH_ALL = re.compile(r"noqa:[^#]*\bBLE001\b")


def silent(source: Source) -> Iterator[Breach]:
    """The comments that silence a tool without a code or without a reason."""
    for line, text in enumerate(source.text.splitlines(), start=1):
        match = SILENCED.search(text)
        if match and not WITH_REASON.match(text[match.start() :]):
            yield Breach(source.path, line, "a tool is silenced without a code and a reason (`# noqa: CODE - why`)")


def catch_alls(source: Source) -> Iterator[Breach]:
    """The places that catch everything; ruff (BLE001) makes each of them say so."""
    for line, text in enumerate(source.text.splitlines(), start=1):
        if CATCH_ALL.search(text):
            yield Breach(source.path, line, "everything is caught")


def test_a_tool_is_silenced_only_with_a_reason() -> None:
    """The reason lets the next reader judge whether it still holds."""
    tree.hold("reasons", (breach for source in tree.sources("appliance", "scripts") for breach in silent(source)))


def test_everything_is_caught_in_five_places_at_most() -> None:
    """A bulkhead records what it caught; anywhere else, catching everything hides a bug."""
    found = [breach for source in tree.sources("appliance") for breach in catch_alls(source)]
    assert len(found) <= BULKHEADS_MOST, "\n".join(map(str, found))


@pytest.mark.parametrize(
    "text", ["x = 1  # noqa", "x = 1  # noqa: E501", "x = f()  # type: ignore", "x = f()  # type: ignore[misc]"]
)
def test_a_tool_silenced_without_a_reason_is_seen(text: str) -> None:
    """A bare one, and one with a code alone."""
    assert list(silent(Source("appliance/some.py", text)))


@pytest.mark.parametrize(
    "text", ["x = 1  # noqa: E501 - a table reads better", "x = f()  # type: ignore[misc]  # the stub is wrong"]
)
def test_a_reason_is_taken(text: str) -> None:
    """In the spelling of either tool."""
    assert not list(silent(Source("appliance/some.py", text)))


def test_a_catch_all_is_seen() -> None:
    """By the comment without which ruff refuses it."""
    assert list(catch_alls(Source("appliance/some.py", "except Exception:  # noqa: BLE001 - bulkhead around a handler")))
