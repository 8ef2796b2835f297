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
