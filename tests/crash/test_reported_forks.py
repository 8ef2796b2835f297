"""Forks that others were harmed by: inside a running loop, and with a connection that a library holds."""

from __future__ import annotations

import pytest

from tests.crash.test_supervisor_fork import run

pytestmark = pytest.mark.crash


def test_a_process_in_a_running_event_loop_does_not_fork() -> None:
    """Parent and child would share the loop's descriptors; after the loop it may fork."""
    body = """
import asyncio
async def inside():
    return refused()
print(asyncio.run(inside()))
print(refused())
"""
    assert run(body) == "a fork was asked for inside a running event loop, which parent and child would share\nNone\n"


def test_a_connection_that_a_library_holds_is_seen_before_a_fork() -> None:
    """Whoever opened it, and whether or not anybody still has a name for it: the engine itself is asked."""
    body = """
import apsw
held = []
held.append(apsw.Connection(':memory:').cursor())
print(refused())
"""
    assert run(body) == "a fork was asked for while 1 database connections are open\n"


def test_a_child_lives_on_when_a_thread_of_its_parent_ends() -> None:
    """The signal of the parent's death is tied to the thread that forked, which is the main one and ends last."""
    body = """
reader, writer = os.pipe()
pid = fork(lambda: len(os.read(reader, 1)), settle=lambda: None, keep=[reader], log=log)
helping = threading.Thread(target=lambda: None)
helping.start()
helping.join()
while len(os.listdir('/proc/self/task')) > 1:
    pass
os.write(writer, b'x')
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
"""
    assert run(body) == "1\n"
