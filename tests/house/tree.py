"""The tree as the house tests see it: files as text, breaches as values, excuses as a table.

A law is a pure function from source text to breaches, so that it can be shown to fail on one bad example.
"""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
EXCUSES = ROOT / "tests" / "house" / "excuses.toml"
READ_SUFFIXES = {".py", ".md", ".sql", ".toml", ".json", ".txt", ".service", ""}
HIDDEN_BUT_OURS = {".ci", ".gitignore"}

Definition = ast.FunctionDef | ast.AsyncFunctionDef


class Source(NamedTuple):
    """A file: its path from the root, and its text."""

    path: str
    text: str


class Breach(NamedTuple):
    """A law is broken: in which file, on which line, and how."""

    path: str
    line: int
    what: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.what}"


def _visible(path: Path) -> bool:
    parts = path.relative_to(ROOT).parts
    return all(not part.startswith(".") or part in HIDDEN_BUT_OURS for part in parts) and "__pycache__" not in parts


def sources(*folders: str, suffix: str = ".py") -> list[Source]:
    """The files with this suffix in these folders of the tree, in order."""
    paths = sorted(path for folder in folders for path in (ROOT / folder).rglob(f"*{suffix}") if path.is_file() and _visible(path))
    return [Source(str(path.relative_to(ROOT)), path.read_text(encoding="utf-8")) for path in paths]


def texts() -> list[Source]:
    """Every text file of the tree."""
    paths = sorted(path for path in ROOT.rglob("*") if path.is_file() and path.suffix in READ_SUFFIXES and _visible(path))
    return [Source(str(path.relative_to(ROOT)), path.read_text(encoding="utf-8")) for path in paths]


def docstrings(tree: ast.AST) -> set[int]:
    """The identities of the nodes that are docstrings."""
    owners = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    bodies = (node.body for node in ast.walk(tree) if isinstance(node, owners) and node.body)
    return {id(body[0].value) for body in bodies if isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant)}


def strings(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Line and value of every string that is not a docstring, pieces of f-strings included."""
    skipped = docstrings(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in skipped:
            yield node.lineno, node.value


def definitions(tree: ast.AST) -> Iterator[Definition]:
    """Every function, methods and nested ones included."""
    return (node for node in ast.walk(tree) if isinstance(node, Definition))


def aliases(tree: ast.AST) -> dict[str, str]:
    """What each imported name stands for: ``from os import fork as f`` gives ``f`` → ``os.fork``."""
    named: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for name in node.names:
                named[name.asname or name.name.split(".")[0]] = name.name if name.asname else name.name.split(".")[0]
        elif isinstance(node, ast.ImportFrom):
            named |= {name.asname or name.name: f"{node.module}.{name.name}" for name in node.names}
    return named


def dotted(node: ast.AST, named: Mapping[str, str]) -> str | None:
    """The full name that an attribute chain stands for, if it starts at an imported name."""
    if isinstance(node, ast.Name):
        return named.get(node.id)
    if isinstance(node, ast.Attribute):
        head = dotted(node.value, named)
        return None if head is None else f"{head}.{node.attr}"
    return None


def excuses() -> Mapping[str, Mapping[str, str]]:
    """The excused files by law, each with its reason."""
    loaded: dict[str, dict[str, str]] = tomllib.loads(EXCUSES.read_text(encoding="utf-8"))
    return loaded


def hold(law: str, breaches: Iterable[Breach]) -> None:
    """Assert that a law holds in every file that is not excused, and that every excuse is still needed."""
    excused = excuses().get(law, {})
    found = list(breaches)
    open_ones = [str(breach) for breach in found if breach.path not in excused]
    assert not open_ones, f"the law of {law} is broken:\n" + "\n".join(open_ones)
    idle = sorted(set(excused) - {breach.path for breach in found})
    assert not idle, f"no longer in need of an excuse from the law of {law}, take it out: {', '.join(idle)}"
