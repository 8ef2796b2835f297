"""A file imports from lower floors only; neighbours on a floor are strangers; inside a package there are no circles.

Imports inside functions and under ``TYPE_CHECKING`` count as well: what a file knows is what it names.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Mapping
from graphlib import CycleError, TopologicalSorter

import pytest

from tests.house import tree
from tests.house.tree import Breach, Source

FLOORS: Mapping[str, int] = {
    "errors": 1,
    "release": 1,
    "clock": 2,
    "limits": 2,
    "log": 2,
    "settings": 3,
    "store": 4,
    "site": 4,
    "coordination": 5,
    "runtime": 6,
    "pipelines": 6,
    "health": 7,
    "gateway": 8,
    "lifecycle": 8,
    "wiring": 9,
    "cli": 10,
    "__main__": 11,
}
DOOR = "appliance"
DOOR_MAY_USE = "coordination"  # the door hands its names on, and knows nothing else
VENDOR = "pipelines"  # the built-in workloads use the door, and nothing that a vendor could not use


def module_of(path: str) -> str:
    """``appliance/store/engine.py`` is ``appliance.store.engine``; a package is named without ``__init__``."""
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def imported(source: Source, modules: Collection[str]) -> Iterator[tuple[int, str]]:
    """Line and full name of everything of ours that a file imports: a module where it is one, else the module that holds it."""
    for node in ast.walk(ast.parse(source.text)):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, name.name) for name in node.names if name.name.split(".")[0] == DOOR)
        elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == DOOR:
            for name in node.names:
                full = f"{node.module}.{name.name}"
                known = full in modules or (node.module == DOOR and name.name in FLOORS)
                yield node.lineno, full if known else str(node.module)


def package_of(module: str) -> str:
    """The unit that has a floor: the second part of the name; ``__init__`` at the top is the door."""
    return module.split(".")[1] if "." in module else DOOR


def may_import(importer: str, module: str) -> bool:
    """Whether the floors let one module import another."""
    here, there = package_of(importer), package_of(module)
    if here == VENDOR:
        own = ".".join(importer.split(".")[:3])
        return module in {DOOR, own} or module.startswith(own + ".")
    if here == DOOR:
        return there == DOOR_MAY_USE
    return here == there or (there in FLOORS and FLOORS[there] < FLOORS[here])


def stray_imports(source: Source, modules: Collection[str]) -> Iterator[Breach]:
    """The imports of a file that go upward, sideways, or around the door."""
    importer = module_of(source.path)
    if package_of(importer) not in {*FLOORS, DOOR}:
        yield Breach(source.path, 1, f"{package_of(importer)} has no floor: enter it in FLOORS")
        return
    for line, module in imported(source, modules):
        if not may_import(importer, module):
            yield Breach(source.path, line, f"{importer} may not import {module}")


def circle(files: Collection[Source]) -> list[str]:
    """The modules of one circle of imports, or nothing."""
    modules = {module_of(source.path) for source in files}
    graph = {module_of(source.path): {name for _, name in imported(source, modules)} & modules for source in files}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def test_every_import_goes_down() -> None:
    """Whoever reads a file needs to know the floors below it, and no others."""
    files = tree.sources("appliance")
    modules = {module_of(source.path) for source in files}
    tree.hold("floors", (breach for source in files for breach in stray_imports(source, modules)))


def test_no_imports_run_in_a_circle() -> None:
    """Two modules that import each other are one module in two files."""
    assert not circle(tree.sources("appliance"))


MODULES = {
    "appliance",
    "appliance.errors",
    "appliance.store.engine",
    "appliance.coordination.queue",
    "appliance.pipelines.media.plan",
}


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("appliance/store/engine.py", "from appliance.coordination import queue"),
        ("appliance/store/engine.py", "import appliance.site.paths"),
        ("appliance/store/engine.py", "def late():\n    from appliance.site import paths"),
        ("appliance/runtime/work/worker.py", "from appliance.pipelines.media import plan"),
        ("appliance/runtime/work/worker.py", "from appliance import job"),
        ("appliance/pipelines/media/fold.py", "from appliance import errors"),
        ("appliance/pipelines/media/fold.py", "from appliance.pipelines.watch import crawl"),
        ("appliance/pipelines/media/fold.py", "from appliance.coordination.outcomes import Done"),
        ("appliance/__init__.py", "from appliance.errors import HandlerError"),
        ("appliance/helpers/text.py", ""),
    ],
)
def test_an_import_upward_sideways_or_around_the_door_is_seen(path: str, text: str) -> None:
    """One bad example of each kind."""
    assert len(list(stray_imports(Source(path, text), MODULES))) == 1


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("appliance/store/engine.py", "from appliance import errors\nfrom appliance.store import turnstile"),
        ("appliance/coordination/queue.py", "from appliance.store.engine import Engine"),
        ("appliance/pipelines/media/fold.py", "from appliance import Done, job\nfrom appliance.pipelines.media import plan"),
        ("appliance/__init__.py", "from appliance.coordination.outcomes import Done"),
        ("appliance/__main__.py", "from appliance.cli import run"),
    ],
)
def test_an_import_downward_or_at_home_is_let_through(path: str, text: str) -> None:
    """One good example of each kind."""
    assert not list(stray_imports(Source(path, text), MODULES))


def test_a_circle_is_seen() -> None:
    """It names the modules in it."""
    files = [
        Source("appliance/store/a.py", "from appliance.store import b"),
        Source("appliance/store/b.py", "def late():\n    from appliance.store.a import name"),
    ]
    assert set(circle(files)) == {"appliance.store.a", "appliance.store.b"}
