"""Wake-ups: after its COMMIT returned, a writer sends a datagram to those who wait.  Nobody polls.

A waiter binds a socket named ``topic+topic~name`` in the runtime folder's ``wake``.  A datagram says only "look again": one lost (a
full queue, a waiter just starting) costs nothing but the time until the waiter's own deadline.
"""

from __future__ import annotations

import contextlib
import os
import select
import socket
from collections.abc import Iterable
from pathlib import Path
from typing import Final

FOLDER: Final = "wake"
SEPARATOR: Final = "~"
AND: Final = "+"


class ShortPath:
    """A short path to a folder: socket addresses end at 107 bytes, so a long folder is named by a descriptor in /proc."""

    def __init__(self, folder: Path) -> None:
        """Keep a descriptor of the folder."""
        self._descriptor = os.open(folder, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
        self.path = f"/proc/self/fd/{self._descriptor}/"

    def close(self) -> None:
        """Give the descriptor back; the path is dead from now on."""
        os.close(self._descriptor)


class Waiter:
    """A process's ear for some topics (``work``, ``ends``, ``ask``, ``due``, ``born``)."""

    def __init__(self, runtime: Path, topics: Iterable[str], name: str) -> None:
        """Bind the socket; a stale one of the same name is replaced."""
        folder = runtime / FOLDER
        folder.mkdir(mode=0o700, exist_ok=True)
        self._path = folder / f"{AND.join(topics)}{SEPARATOR}{name}"
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK | socket.SOCK_CLOEXEC)
        self._path.unlink(missing_ok=True)
        near = ShortPath(folder)
        self._socket.bind(near.path + self._path.name)
        near.close()

    def fileno(self) -> int:
        """The descriptor, for a selector."""
        return self._socket.fileno()

    def wait(self, timeout_ms: int, *also: int) -> bool:
        """Sleep until a wake-up, the deadline, or one of the descriptors in ``also``.  True for a wake-up."""
        poll = select.poll()
        for descriptor in (self.fileno(), *also):
            poll.register(descriptor, select.POLLIN)
        ready = {descriptor for descriptor, _ in poll.poll(max(0, timeout_ms))}
        return self.fileno() in ready and self.drain()

    def drain(self) -> bool:
        """Take all datagrams that wait; whether there was one."""
        heard = False
        with contextlib.suppress(BlockingIOError):
            while self._socket.recv(16):
                heard = True
        return heard

    def close(self) -> None:
        """Stop listening."""
        self._socket.close()
        self._path.unlink(missing_ok=True)


def forget(runtime: Path, name: str) -> None:
    """Take away the ear of a dead process, which nobody hears with any more; one that is not there is fine."""
    for left in (runtime / FOLDER).glob(f"*{SEPARATOR}{name}"):
        left.unlink(missing_ok=True)


class Waker:
    """A writer's voice."""

    def __init__(self, runtime: Path) -> None:
        """Keep the folder and one unbound socket."""
        self._folder = runtime / FOLDER
        self._folder.mkdir(mode=0o700, exist_ok=True)
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK | socket.SOCK_CLOEXEC)
        self._near = ShortPath(self._folder)

    def wake(self, topics: frozenset[str] | set[str]) -> None:
        """Send to every waiter of these topics.  One that has a full queue is passed over, one that is gone is taken away."""
        with contextlib.suppress(FileNotFoundError):  # without the folder nobody waits, and the commit stands all the same
            for name in os.listdir(self._folder):
                if not topics.isdisjoint(name.partition(SEPARATOR)[0].split(AND)):
                    self._send(self._near.path + name)

    def _send(self, ear: str) -> None:
        try:
            self._socket.sendto(b"!", ear)
        except ConnectionRefusedError:  # a process that was killed has left it behind; a command's is nobody else's to take away
            Path(ear).unlink(missing_ok=True)
        except OSError:
            return

    def close(self) -> None:
        """Give the descriptors back."""
        self._socket.close()
        self._near.close()
