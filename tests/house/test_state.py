"""State that nobody listed is how coordination fails: every class whose objects can change has its row in decision 0001."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from tests.house import tree
from tests.house.tree import Breach, Source

RECORD = "docs/decisions/0001-state-and-coordination.md"
ROW = re.compile(r"^\| `([a-z_.]+\.[A-Za-z_]+)` \|", re.MULTILINE)
VALUES = ("StrEnum", "Enum", "IntEnum", "Protocol", "NamedTuple", "_Instant")


def changing(source: Source) -> Iterator[str]:
    """The classes of a file whose objects can change: no enumerations, protocols, errors, and nothing frozen."""
    module = source.path.removeprefix("appliance/").removesuffix(".py").replace("/", ".")
    for node in ast.walk(ast.parse(source.text)):
        if isinstance(node, ast.ClassDef) and not _is_value(node):
            yield f"{module}.{node.name}"


def _is_value(node: ast.ClassDef) -> bool:
    bases = {ast.unparse(base) for base in node.bases}
    told = [ast.unparse(each) for each in (*node.decorator_list, *(keyword for keyword in node.keywords))]
    frozen = any("frozen=True" in each for each in told)
    stateless = not any(isinstance(each, ast.AnnAssign | ast.Assign) for each in ast.walk(node))
    return frozen or stateless or not bases.isdisjoint(VALUES) or node.name.endswith("Error")


def unlisted(sources: list[Source], record: str) -> Iterator[Breach]:
    """Classes without a row, and rows without a class."""
    found = {name for source in sources for name in changing(source)}
    rows = set(ROW.findall(record))
    for name in sorted(found - rows):
        yield Breach(RECORD, 1, f"{name} can change and has no row")
    for name in sorted(rows - found):
        yield Breach(RECORD, 1, f"{name} has a row and does not exist, or cannot change")


def test_every_piece_of_changing_state_is_listed_with_its_coordination() -> None:
    """Whoever adds state says who writes it, and what keeps two writers apart."""
    sources = [each for each in tree.sources("appliance") if "/pipelines/" not in each.path]
    record = next(each.text for each in tree.texts() if each.path == RECORD)
    tree.hold("state", unlisted(sources, record))


def test_a_class_that_can_change_and_has_no_row_is_seen() -> None:
    """Frozen values, errors and enumerations need no row; anything else does."""
    text = "@dataclass(frozen=True)\nclass Value:\n    x: int\nclass Box:\n    def __init__(self):\n        self.x = 1\n"
    assert list(changing(Source("appliance/runtime/box.py", text))) == ["runtime.box.Box"]
    assert [breach.what for breach in unlisted([], "| `runtime.gone.Gone` | x |")] == [
        "runtime.gone.Gone has a row and does not exist, or cannot change"
    ]
