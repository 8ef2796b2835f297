"""A process's name means this very process, and no successor in its pid."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace

import pytest

from appliance.runtime.supervision import identity
from appliance.site import boot

NONCE = "0123456789abcdef"


@pytest.fixture
def child() -> Iterator[subprocess.Popen[bytes]]:
    """A process that waits for the end of its input."""
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as started:
        yield started
        started.kill()


def process_of(child: subprocess.Popen[bytes]) -> identity.Process:
    """The child's identity."""
    found = identity.of(child.pid, NONCE)
    assert found is not None
    return found


def test_the_text_of_a_process_reads_back_as_the_same() -> None:
    """The ledger keeps the text; whoever reads it gets the process."""
    me = identity.current(NONCE)
    assert identity.parse(str(me)) == me


@pytest.mark.parametrize(
    "text", ["", "a/1/2/3", "x" * 36 + "/1/2/0123456789abcdef", f"{boot.boot_id()}/0/2/{NONCE}", f"{boot.boot_id()}/1/2/{NONCE}\n"]
)
def test_a_text_that_names_no_process_is_none(text: str) -> None:
    """Holders come from a file that a hand may have edited."""
    assert identity.parse(text) is None


def test_the_calling_process_is_alive() -> None:
    """The simplest case."""
    assert identity.alive(identity.current(NONCE))


def test_a_process_of_another_boot_is_dead(child: subprocess.Popen[bytes]) -> None:
    """Its pid and start time may be taken again, its boot never comes back."""
    assert not identity.alive(replace(process_of(child), boot_id="00000000-0000-0000-0000-000000000000"))


def test_a_successor_in_the_same_pid_is_somebody_else(child: subprocess.Popen[bytes]) -> None:
    """Only the start time tells them apart."""
    earlier = replace(process_of(child), start_ticks=process_of(child).start_ticks - 1)
    assert not identity.alive(earlier)
    assert identity.pidfd(earlier) is None


def test_a_zombie_is_dead(child: subprocess.Popen[bytes]) -> None:
    """It still has its pid and its start time, but will do nothing any more."""
    process = process_of(child)
    child.send_signal(signal.SIGKILL)
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    assert boot.start_ticks(child.pid) == process.start_ticks
    assert not identity.alive(process)
    assert identity.pidfd(process) is None


def test_a_pidfd_becomes_readable_when_its_process_dies(child: subprocess.Popen[bytes]) -> None:
    """Death is an event, also of somebody else's child."""
    descriptor = identity.pidfd(process_of(child))
    assert descriptor is not None
    assert select.select([descriptor], [], [], 0)[0] == []
    child.kill()
    assert select.select([descriptor], [], [], 10)[0] == [descriptor]
    os.close(descriptor)


def test_a_process_that_was_reaped_is_dead(child: subprocess.Popen[bytes]) -> None:
    """Its pid is nobody's."""
    process = process_of(child)
    child.kill()
    child.wait()
    assert not identity.alive(process)
    assert identity.pidfd(process) is None


def test_a_name_with_parentheses_and_spaces_moves_no_field() -> None:
    """A process chooses its own name, and could pretend to another start time or state."""
    raw = b"7 (a) Z 1 (b c)) S 3 4 5 0 -1 4194560 0 0 0 0 0 0 0 0 20 0 1 0 99 1 1 18446744073709551615"
    found = boot.parse_stat(raw)
    assert (found.state, found.parent, found.group, found.start_ticks) == ("S", 3, 4, 99)
