"""What every command owes: an error in plain words with a remedy, and the right exit code."""

from __future__ import annotations

import subprocess

from tests.crash.appliance_stage import Appliance


def refused(box: Appliance, *arguments: str, code: int, says: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    """A command that cannot be done: nothing on output, what is wrong and what to do on errors, no trace of the program."""
    done = box.command(*arguments, stdin=stdin)
    assert done.returncode == code, (done.returncode, done.stderr)
    assert done.stderr.startswith("appliance: ")
    assert says in done.stderr
    assert len(done.stderr.splitlines()) >= 2, "there is no remedy"
    assert "Traceback" not in done.stderr
    assert "fault of ours" not in done.stderr
    return done


def plain(text: str) -> bool:
    """Whether a text has nothing that commands a terminal."""
    return "\x1b" not in text
