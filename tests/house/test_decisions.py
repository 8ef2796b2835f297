"""Decisions are numbered without gaps, listed, and there when code names one."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import pytest

from tests.house import tree
from tests.house.tree import Breach, Source

FOLDER = "docs/decisions/"
FILE_NAME = re.compile(r"(\d{4})-[a-z0-9]+(-[a-z0-9]+)*\.md")
NAMED = re.compile(r"\bdecisions?[ /]+(\d{4})\b", re.IGNORECASE)
LIST = FOLDER + "README.md"


def pages(paths: Sequence[str]) -> list[str]:
    """The file names of the decisions among some paths."""
    return sorted(path.removeprefix(FOLDER) for path in paths if path.startswith(FOLDER) and path != LIST)


def misnumbered(names: Sequence[str]) -> Iterator[Breach]:
    """The decisions whose file name is not the next number and a few words."""
    for expected, name in enumerate(sorted(names), start=1):
        match = FILE_NAME.fullmatch(name)
        if match is None or int(match[1]) != expected:
            yield Breach(FOLDER + name, 1, f"expected the number {expected:04} and lower-case words joined by hyphens")


def unknown(source: Source, names: Sequence[str]) -> Iterator[Breach]:
    """The decisions that a file names and that do not exist."""
    known = {name[:4] for name in names}
    for line, text in enumerate(source.text.splitlines(), start=1):
        for number in NAMED.findall(text):
            if number not in known:
                yield Breach(source.path, line, f"there is no decision {number}")


def unlisted(listing: Source, names: Sequence[str]) -> Iterator[Breach]:
    """The decisions that the list does not link to."""
    for name in names:
        if f"({name})" not in listing.text:
            yield Breach(listing.path, 1, f"{name} is not in the list")


def test_decisions_are_numbered_and_listed() -> None:
    """A number is never used again, so a gap is a lost page."""
    texts = tree.texts()
    names = pages([source.path for source in texts])
    (listing,) = [source for source in texts if source.path == LIST]
    tree.hold("decisions", [*misnumbered(names), *unlisted(listing, names)])


def test_every_decision_that_is_named_exists() -> None:
    """Code that points at nothing is worse than code that does not explain itself."""
    texts = [source for source in tree.texts() if source.path != "tests/house/test_decisions.py"]
    names = pages([source.path for source in texts])
    tree.hold("named decisions", (breach for source in texts for breach in unknown(source, names)))


@pytest.mark.parametrize(
    "names", [["0002-late.md"], ["0001-a.md", "0001-b.md"], ["0001-a.md", "0003-c.md"], ["1-short.md"], ["notes.md"]]
)
def test_a_gap_or_a_name_out_of_order_is_seen(names: list[str]) -> None:
    """One bad example of each kind."""
    assert list(misnumbered(names))


def test_a_decision_that_is_not_there_is_seen() -> None:
    """Named in code or in a document, in either spelling."""
    text = "# as decision 0009 has it\n# see docs/decisions/0008-other.md"
    assert len(list(unknown(Source("appliance/some.py", text), ["0001-a.md"]))) == 2


def test_a_decision_that_is_not_listed_is_seen() -> None:
    """The list is how a reader finds it."""
    assert list(unlisted(Source(LIST, "| 0001 | [A](0001-a.md) |"), ["0001-a.md", "0002-b.md"]))
