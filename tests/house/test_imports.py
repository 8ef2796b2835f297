"""Importing a module does nothing: no file, no socket, no process, no thread."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.house import audit_imports, tree
from tests.house.test_floors import module_of
from tests.house.tree import ROOT, Breach

BAD = {
    "writes": "open('left_behind', 'w').close()",
    "reads": "from pathlib import Path\nFACTS = Path(__file__).with_name('facts.toml').read_text()",
    "connects": "import socket\nsocket.socket()",
    "starts": "import subprocess\nsubprocess.run(['true'])",
    "forks": "import os\nif os.fork() == 0:\n    os._exit(0)\nos.wait()",
    "threads": "import threading\nthreading.Thread(target=threading.Event().wait, daemon=True).start()",
}
GOOD = {
    "computes": "import os\nimport re\nWORD = re.compile('a')\ndef act():\n    open('never')",
    "imports": "import computes\nimport json.tool",
}


def acts_of(root: Path, modules: list[str]) -> list[Breach]:
    """What the modules do when they are imported, in a fresh interpreter."""
    done = subprocess.run(
        [sys.executable, "-B", audit_imports.__file__, str(root), *modules], check=False, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    return [Breach(*act) for act in json.loads(done.stdout.splitlines()[-1])]


def write_all(folder: Path, modules: dict[str, str]) -> None:
    """Make modules of these texts."""
    (folder / "facts.toml").touch()
    for name, text in modules.items():
        (folder / f"{name}.py").write_text(text, encoding="utf-8")


def test_importing_any_module_does_nothing() -> None:
    """Who imports a module to read a name must not open a ledger by it."""
    modules = [module_of(source.path) for source in tree.sources("appliance")]
    tree.hold("imports", acts_of(ROOT, modules))


@pytest.mark.parametrize("name", BAD)
def test_a_module_that_acts_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """One bad example of each kind, named by file."""
    monkeypatch.chdir(tmp_path)
    write_all(tmp_path, BAD)
    assert {act.path for act in acts_of(tmp_path, [name])} == {f"{name}.py"}


def test_a_module_that_only_defines_is_let_through(tmp_path: Path) -> None:
    """Also when it imports others, ours and the standard library's."""
    write_all(tmp_path, GOOD)
    assert not acts_of(tmp_path, list(GOOD))
