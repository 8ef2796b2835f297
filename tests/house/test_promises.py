"""Every promise that this release makes has a test whose name carries its number."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from typing import Final

from tests.house import tree
from tests.house.tree import Breach, Source

CLAIMED: Final = {
    1: "an acknowledged submission survives a power cut at any write, and a kill at any instruction",
    2: "one identity has at most one committed result",
    3: "a late attempt changes nothing, in any table or file",
    5: "a job whose process died runs again at once, while a worker is free",
    7: "a split job's output is byte for byte that of one process, whatever dies",
    8: "storage of a running split follows its window",
    13: "no input, payload or file stops the supervisor, or is started again without end",
    14: "a full disk loses nothing acknowledged, and ends by itself (of the store)",
    15: "a stop is bounded; work in flight is finished or handed back, not burned",
    19: "idle, nothing is written and next to nothing is used",
}
NUMBERS: Final = re.compile(r"(?<=_)p(\d+)(?=_|$)")


def carried(sources: Iterable[Source]) -> dict[int, set[str]]:
    """The tests of each number: ``test_p1_p2_what`` and ``test_what_p1`` carry it alike."""
    found: dict[int, set[str]] = {}
    for source in sources:
        for each in tree.definitions(ast.parse(source.text)):
            for number in NUMBERS.findall(each.name) if each.name.startswith("test_") else ():
                found.setdefault(int(number), set()).add(f"{source.path}::{each.name}")
    return found


def unkept(sources: Iterable[Source], claimed: Iterable[int]) -> Iterator[Breach]:
    """The claimed promises that no test carries."""
    found = carried(sources)
    for number in claimed:
        if number not in found:
            yield Breach("tests", 1, f"no test carries promise {number}")


def test_every_claimed_promise_is_carried_by_a_test() -> None:
    """A promise without a test that would fail is advertising."""
    tree.hold("promises", unkept(tree.sources("tests"), CLAIMED))


def test_a_promise_without_a_test_is_seen() -> None:
    """A number inside a word or in another function is none."""
    text = "def test_p1_it(): pass\ndef test_it_p12(): pass\ndef test_step2_p(): pass\ndef p3_(): pass"
    source = Source("tests/unit/test_a.py", text)
    assert set(carried([source])) == {1, 12}
    assert len(list(unkept([source], [1, 2, 3, 12]))) == 2
