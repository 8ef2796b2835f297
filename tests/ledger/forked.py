"""Real child processes for tests of what several processes do to one ledger."""

from __future__ import annotations

import os
import select
import signal
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

WAIT_S = 60


@dataclass(slots=True)
class Child:
    """A forked process and the pipe on which it tells what it did."""

    pid: int
    ear: int

    def line(self) -> str:
        """The next line that the child tells; empty when it has ended."""
        told = b""
        while not told.endswith(b"\n"):
            assert select.select([self.ear], [], [], WAIT_S)[0], "the child tells nothing"
            if not (more := os.read(self.ear, 1)):
                break
            told += more
        return told.decode().strip()

    def lines(self) -> Iterator[str]:
        """All that it tells until its end."""
        while line := self.line():
            yield line

    def kill(self) -> None:
        """End it at this very instruction."""
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)


@contextmanager
def forked(act: Callable[[Callable[[str], None]], None]) -> Iterator[Child]:
    """A child that carries out ``act``, which is given a voice; it is gone when the context ends, killed if need be."""
    ear, mouth = os.pipe()
    pid = os.fork()
    if pid == 0:
        _live(act, mouth)
    os.close(mouth)
    child = Child(pid, ear)
    try:
        yield child
    finally:
        os.close(ear)
        try:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
        except (ProcessLookupError, ChildProcessError):
            pass  # the test has seen to it


def _live(act: Callable[[Callable[[str], None]], None], mouth: int) -> None:
    """The child's life; it never returns into the test."""
    try:
        act(lambda line: _tell(mouth, line))
    except BaseException:  # noqa: BLE001 - the child's own end of the world
        traceback.print_exc(file=sys.stderr)
        os._exit(1)
    os._exit(0)


def _tell(mouth: int, line: str) -> None:
    os.write(mouth, line.encode() + b"\n")
