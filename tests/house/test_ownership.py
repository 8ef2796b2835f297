"""Each outside thing has one owner: a package, the environment, a clock, a fork, an outside program.

Whoever needs what another file owns asks that file for it, or is handed it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from fnmatch import fnmatch
from typing import NamedTuple

import pytest

from tests.house import tree
from tests.house.tree import Breach, Source


class Owned(NamedTuple):
    """Names, and the files (as patterns of paths) that may use them."""

    names: tuple[str, ...]
    owners: tuple[str, ...]
    why: str


NOBODY: tuple[str, ...] = ()
WAYS_TO_PASS = ("l", "le", "lp", "lpe", "v", "ve", "vp", "vpe")

TABLE = (
    Owned(("apsw",), ("appliance/store/*",), "SQLite is used through the store only"),
    Owned(("sqlite3",), NOBODY, "another SQLite in the process drops the locks of the first"),
    Owned(("rich",), ("appliance/cli/render*.py",), "it is loaded only for a terminal"),
    Owned(("platformdirs", "tomli_w"), ("appliance/site/*",), "facts about this machine are found in one place"),
    Owned(("psutil",), ("appliance/health/*",), "the other processes read what they need from /proc"),
    Owned(
        ("msgspec",),
        ("appliance/settings.py", "appliance/coordination/*", "appliance/runtime/*", "appliance/gateway/*"),
        "values are checked where bytes come in",
    ),
    Owned(("anyio",), ("appliance/gateway/*", "appliance/pipelines/watch/*", "appliance/runtime/*"), "the core is synchronous"),
    Owned(("asyncio",), NOBODY, "what is asynchronous is so by anyio"),
    Owned(("av", "numpy"), ("appliance/pipelines/*",), "the core installs without them"),
    Owned(
        ("os.environ", "os.environb", "os.getenv", "os.putenv", "os.unsetenv"),
        ("appliance/site/config.py",),
        "the environment is read once, and handed on as settings",
    ),
    Owned(
        ("time.time", "time.time_ns", "time.monotonic", "time.monotonic_ns", "time.clock_gettime", "time.clock_gettime_ns"),
        ("appliance/clock.py",),
        "a Clock is passed in",
    ),
    Owned(
        ("datetime.datetime.now", "datetime.datetime.utcnow", "datetime.datetime.today", "datetime.date.today"),
        ("appliance/clock.py",),
        "a Clock is passed in",
    ),
    Owned(("time.sleep",), NOBODY, "wait for an event, with a deadline"),
    Owned(("os.fork", "os.forkpty"), ("appliance/runtime/supervision/fork.py",), "only the clean supervisor forks"),
    Owned(("multiprocessing", "concurrent.futures.ProcessPoolExecutor"), NOBODY, "processes are the supervisor's"),
    Owned(
        (
            *("subprocess", "pty", "os.system", "os.popen", "os.posix_spawn", "os.posix_spawnp"),
            *(f"os.exec{how}" for how in WAYS_TO_PASS),
            *(f"os.spawn{how}" for how in WAYS_TO_PASS),
        ),
        ("appliance/runtime/hands/*.py",),
        "a hand is the only other program that is started",
    ),
)


def owned_by(name: str) -> Owned | None:
    """The row that a full name falls under."""
    return next((row for row in TABLE for owned in row.names if name == owned or name.startswith(owned + ".")), None)


def names_in(source: Source) -> Iterator[tuple[int, str]]:
    """Line and full name of everything that a file imports or reaches through an import."""
    parsed = ast.parse(source.text)
    named = tree.aliases(parsed)
    for node in ast.walk(parsed):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, name.name) for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from ((node.lineno, f"{node.module}.{name.name}") for name in node.names)
        elif isinstance(node, ast.Attribute) and (name := tree.dotted(node, named)):
            yield node.lineno, name


def trespasses(source: Source) -> Iterator[Breach]:
    """The uses of a name by a file that is not among its owners, each line once."""
    seen: set[tuple[int, Owned]] = set()
    for line, name in names_in(source):
        row = owned_by(name)
        if row and (line, row) not in seen and not any(fnmatch(source.path, owner) for owner in row.owners):
            seen.add((line, row))
            yield Breach(source.path, line, f"{name} is not this file's to use: {row.why}")


def test_nobody_uses_what_another_file_owns() -> None:
    """One owner means one place to look, to test and to change."""
    tree.hold("ownership", (breach for source in tree.sources("appliance") for breach in trespasses(source)))


@pytest.mark.parametrize(
    "text",
    [
        "import apsw",
        "from sqlite3 import connect",
        "import rich.table",
        "import os\nhome = os.environ['HOME']",
        "from os import environ as surroundings",
        "import os as system\nsystem.fork()",
        "import time\nnow = time.monotonic()",
        "from datetime import datetime\nnow = datetime.now()",
        "import subprocess",
        "import os\nos.execv('/bin/true', [])",
        "def late():\n    import multiprocessing.pool",
    ],
)
def test_a_trespass_is_seen(text: str) -> None:
    """One bad example of each way to reach a name."""
    assert len(list(trespasses(Source("appliance/coordination/queue.py", text)))) == 1


def test_an_owner_is_let_through() -> None:
    """And so is what only looks alike."""
    assert not list(trespasses(Source("appliance/store/engine.py", "import apsw\napsw.Connection('x')")))
    assert not list(trespasses(Source("appliance/runtime/hands/entry.py", "import os\nos.execv('x', [])")))
    assert not list(trespasses(Source("appliance/coordination/queue.py", "import os\nos.getpid()\ntime = 1")))
