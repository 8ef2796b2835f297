"""What no statement of ours asks of the engine: to rewrite the file, to say the time, to read first; and who names its file."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

import pytest

from tests.house import tree
from tests.house.tree import Breach, Source

NEVER = {
    re.compile(r"\bVACUUM\b", re.IGNORECASE): "it needs the space twice over and lets nobody write meanwhile",
    re.compile(r"\b(strftime|julianday|unixepoch|datetime|date|time)\s*\(|\bCURRENT_(TIME|DATE|TIMESTAMP)\b", re.IGNORECASE): (
        "time is bound by the caller, in one unit; the engine's clock has another, and gives null for what it does not read"
    ),
    re.compile(r"^\s*BEGIN\s*(;|DEFERRED\b|TRANSACTION\b)", re.IGNORECASE): (
        "a transaction that reads first cannot wait for its turn to write"
    ),
}
NAMES = re.compile(r"\bledger\.db\b")
STORE = "appliance/store/"


def statements(source: Source) -> Iterator[tuple[int, str]]:
    """Line and text of what may be a statement: a file of SQL without its comments, or a string of a Python file of the store."""
    if source.path.endswith(".sql"):
        yield from ((line, text.partition("--")[0]) for line, text in enumerate(source.text.splitlines(), start=1))
    elif source.path.startswith(STORE):
        yield from ((line, f"{text};") for line, text in tree.strings(ast.parse(source.text)))


def forbidden(source: Source) -> Iterator[Breach]:
    """What is asked of the engine and may not be."""
    for line, text in statements(source):
        for pattern, why in NEVER.items():
            if pattern.search(text):
                yield Breach(source.path, line, f"{text.strip()[:60]!r}: {why}")


def aside(source: Source) -> Iterator[Breach]:
    """The places outside the store that name the ledger's file, so that they could open it."""
    parsed = ast.parse(source.text)
    for line, text in tree.strings(parsed):
        if NAMES.search(text) and " " not in text.strip():
            yield Breach(source.path, line, "the ledger's file is opened by the store alone, through SQLite")
    for node in ast.walk(parsed):
        if isinstance(node, ast.ImportFrom) and any(name.name == "LEDGER" for name in node.names):
            yield Breach(source.path, node.lineno, "the name of the ledger's file is the store's")


def test_nothing_is_asked_of_the_engine_that_stops_the_world_or_the_clock() -> None:
    """In files of SQL and in the store's own strings."""
    read = [*tree.sources("appliance", suffix=".sql"), *tree.sources("appliance")]
    tree.hold("the engine", (breach for source in read for breach in forbidden(source)))


def test_nobody_but_the_store_names_the_ledger_s_file() -> None:
    """Opening and closing it aside drops the locks of the process; two commits were lost that way in every trial."""
    outside = [source for source in tree.sources("appliance") if not source.path.startswith(STORE)]
    tree.hold("the ledger's file", (breach for source in outside for breach in aside(source)))


@pytest.mark.parametrize("text", ["VACUUM;", "SELECT unixepoch('now');", "UPDATE job SET due_ms = strftime('%s');", "BEGIN;"])
def test_a_forbidden_statement_is_seen(text: str) -> None:
    """One bad example of each kind, in a file of SQL and in the store."""
    assert list(forbidden(Source("appliance/coordination/queue.sql", text)))
    assert list(forbidden(Source(f"{STORE}ledger.py", f"SQL = {text!r}")))


@pytest.mark.parametrize("text", ["-- VACUUM never", "BEGIN IMMEDIATE", "SELECT due_ms FROM job", "UPDATE job SET at_ms = :now"])
def test_a_statement_of_ours_is_let_through(text: str) -> None:
    """A comment forbids nothing, and a column may have a time in its name."""
    assert not list(forbidden(Source("appliance/coordination/queue.sql", text)))


def test_a_name_of_the_file_outside_the_store_is_seen() -> None:
    """Typed or imported; a sentence about it is none."""
    for text in ("open('ledger.db')", "from appliance.store.ledger import LEDGER"):
        assert list(aside(Source("appliance/cli/status.py", text)))
    assert not list(aside(Source("appliance/errors.py", "class A(B, remedy='keep ledger.db as it is'): pass")))
