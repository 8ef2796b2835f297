"""Files, functions and signatures are small: what grows past its bound hides a second noun."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from statistics import median

from tests.house import tree
from tests.house.tree import Breach, Definition, Source

FILE_LINES_MOST = 300
FUNCTION_LINES_MOST = 40
FUNCTION_LINES_MEDIAN_MOST = 10
POSITIONAL_MOST = 5  # besides self and cls; keyword-only ones say what they are where they are passed, and ruff bounds their number


def lines_of(function: Definition) -> int:
    """The lines of a function without its docstring, and without the functions inside it, which count on their own."""
    total = _span(function)
    if function.body and id(getattr(function.body[0], "value", None)) in tree.docstrings(function):
        total -= _span(function.body[0])
    return total - sum(_span(inner) for inner in ast.walk(function) if isinstance(inner, Definition) and _is_child(inner, function))


def _span(node: Definition | ast.stmt) -> int:
    return (node.end_lineno or node.lineno) - node.lineno + 1


def _is_child(inner: Definition, function: Definition) -> bool:
    if inner is function:
        return False
    between = (node for node in ast.walk(function) if isinstance(node, Definition) and node not in {function, inner})
    return not any(inner in ast.walk(node) for node in between)


def positional(function: Definition) -> int:
    """The parameters that may be passed by position, besides self and cls."""
    names = [argument.arg for argument in (*function.args.posonlyargs, *function.args.args)]
    return len(names) - (names[:1] in (["self"], ["cls"]))


def too_large(source: Source) -> Iterator[Breach]:
    """The breaches of one file."""
    lines = source.text.count("\n")
    if lines > FILE_LINES_MOST:
        yield Breach(source.path, lines, f"the file has {lines} lines of {FILE_LINES_MOST}")
    if not source.path.endswith(".py"):
        return
    for function in tree.definitions(ast.parse(source.text)):
        if (length := lines_of(function)) > FUNCTION_LINES_MOST:
            yield Breach(source.path, function.lineno, f"{function.name} has {length} lines of {FUNCTION_LINES_MOST}")
        if (count := positional(function)) > POSITIONAL_MOST:
            yield Breach(source.path, function.lineno, f"{function.name} takes {count} by position of {POSITIONAL_MOST}")


def test_files_functions_and_signatures_are_within_their_bounds() -> None:
    """The bounds are those of the style guide, in the product, its tests and its scripts alike."""
    files = tree.sources("appliance", "tests", "scripts") + tree.sources("appliance", suffix=".sql")
    tree.hold("sizes", (breach for source in files for breach in too_large(source)))


def test_the_median_function_is_short() -> None:
    """A bound alone would be met by functions that are all just under it."""
    lengths = [lines_of(function) for source in tree.sources("appliance") for function in tree.definitions(ast.parse(source.text))]
    assert median(lengths) <= FUNCTION_LINES_MEDIAN_MOST


def test_a_file_over_its_bound_is_seen() -> None:
    """One line too many."""
    assert len(list(too_large(Source("appliance/queue.sql", "SELECT 1;\n" * 301)))) == 1


def test_a_function_over_its_bound_is_seen() -> None:
    """One line too many, that of its name included."""
    assert len(list(too_large(Source("appliance/long.py", "def long():\n" + "    act()\n" * 40)))) == 1


def test_a_docstring_and_an_inner_function_do_not_count() -> None:
    """Prose is wanted, and an inner function is held to the bound by itself."""
    inner = "    def inner():\n        def innermost():\n            act()\n" + "        act()\n" * 30
    text = 'def long():\n    """Say.\n\n    Why.\n    """\n' + inner + "    act()\n" * 30
    assert not list(too_large(Source("appliance/long.py", text)))
    (outer, *_) = tree.definitions(ast.parse(text))
    assert lines_of(outer) == 31


def test_a_sixth_positional_parameter_is_seen() -> None:
    """``self`` and keyword-only parameters are not counted."""
    assert len(list(too_large(Source("appliance/wide.py", "def wide(a, b, c, d, e, f): ...\n")))) == 1
    assert not list(too_large(Source("appliance/wide.py", "def wide(self, a, b, c, d, e, *, f, g): ...\n")))
