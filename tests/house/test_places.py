"""The tree names no machine: no path of somebody's own, no host that packages are fetched from."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from tests.house import tree
from tests.house.tree import Breach, Source

# The classes of one letter keep these patterns from matching their own text.
PLACES = re.compile(
    r"(?<![\w.])/(?:hom[e]|User[s]|wor[k])/\w+|(?<![\w.])/roo[t]\b|(?<![\w.])/op[t]/\w+|fil[e]:///\w"
    r"|pypi[.]org|pythonhosted[.]org|inde[x]-url|find-link[s]|trusted-hos[t]",
    re.IGNORECASE,
)


def places(source: Source) -> Iterator[Breach]:
    """The lines of a file that name a place on one machine, or a host of packages."""
    for line, text in enumerate(source.text.splitlines(), start=1):
        if match := PLACES.search(text):
            yield Breach(source.path, line, f"{match[0]} is a place on somebody's machine or network")


def test_the_tree_names_no_place_on_a_machine() -> None:
    """What works only here, works nowhere."""
    tree.hold("places", (breach for source in tree.texts() for breach in places(source)))


@pytest.mark.parametrize(
    "text", ["cd /hom" + "e/ada/films", "cache = '/roo" + "t'", "pip --inde" + "x-url https://mirror.example/simple"]
)
def test_a_place_is_seen(text: str) -> None:
    """One bad example of each kind."""
    assert list(places(Source("docs/some.md", text)))


@pytest.mark.parametrize("text", ["/var/lib/appliance", "docs/work/done", "https://example.org/home/page", "the root / of all"])
def test_a_path_that_every_machine_has_is_let_through(text: str) -> None:
    """The standard places, and what only looks like one."""
    assert not list(places(Source("docs/some.md", text)))
