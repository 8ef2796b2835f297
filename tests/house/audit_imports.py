"""Imports the modules named on the command line, and prints what they did besides, as JSON: a program of ``test_imports``.

An act counts against the module whose body was being executed when it happened, if that module lies in the folder given first; what
modules of other packages do when they are imported is theirs.  Reading code is how an import works, and is no act.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import threading
from pathlib import Path
from typing import NamedTuple

CODE = (".py", ".pyc", ".so", ".sql")  # the statements beside a noun are its code too
ACTS = (
    *("open", "socket.", "subprocess.", "sqlite3.", "shutil.", "tempfile.", "urllib.", "webbrowser.", "fcntl.", "signal."),
    *("os.fork", "os.exec", "os.posix_spawn", "os.spawn", "os.system", "os.putenv", "os.unsetenv", "os.chdir"),
    *("os.mkdir", "os.remove", "os.rename", "os.rmdir", "os.link", "os.symlink", "os.truncate", "os.chmod", "os.chown", "os.kill"),
)


class Act(NamedTuple):
    """What a module did while it was imported, and on which line of which file."""

    path: str
    line: int
    what: str


def reads_code(event: str, args: tuple[object, ...]) -> bool:
    """Whether an event is the import system reading a module."""
    if event != "open" or not isinstance(args[0], str | bytes):
        return False
    _, mode, flags = args
    writes = isinstance(flags, int) and flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)
    return os.fsdecode(args[0]).endswith(CODE) and not writes and mode in {None, "r", "rb"}


def module_body() -> tuple[str, int]:
    """File and line of the innermost module body that is being executed."""
    frame = sys._getframe(2)  # noqa: SLF001 - an audit hook has no other way to see who acts
    while frame.f_back is not None and (frame.f_code.co_name != "<module>" or frame.f_code.co_filename.startswith("<")):
        frame = frame.f_back
    return frame.f_code.co_filename, frame.f_lineno


def main(root: str, *modules: str) -> None:
    """Import the modules under an audit hook."""
    acts: list[Act] = []
    sys.path.insert(0, root)
    home = str(Path(root).resolve())

    def see(event: str, args: tuple[object, ...]) -> None:
        if not event.startswith(ACTS) or reads_code(event, args):
            return
        path, line = module_body()
        if path.startswith(home) and not path.startswith(sys.prefix) and path != __file__:
            acts.append(Act(path.removeprefix(home + "/"), line, f"{event} {args[:1]!r}"))

    sys.addaudithook(see)
    for module in modules:
        threads = threading.active_count()
        imported = importlib.import_module(module)
        if threading.active_count() > threads:  # older interpreters raise no event when a thread starts
            acts.append(Act(str(imported.__file__).removeprefix(home + "/"), 1, "a thread was started"))
    found = list(acts)
    print(json.dumps(found))  # noqa: T201 - the answer to the test that started this program


if __name__ == "__main__":
    main(*sys.argv[1:])
