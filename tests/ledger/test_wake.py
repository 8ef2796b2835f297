"""Wake-ups: after the commit, never before, and never a reason to call a finished commit unfinished."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from appliance.store.wake import FOLDER, Waiter, Waker
from tests.ledger.box import Box


@pytest.fixture
def waiter(box: Box) -> Iterator[Waiter]:
    """Somebody who waits for work."""
    ear = Waiter(box.ledger.place.runtime, ["work", "due"], "anna")
    yield ear
    ear.close()


def test_a_commit_wakes_those_who_wait_for_its_topic(box: Box, waiter: Waiter) -> None:
    """The row is visible when the datagram comes."""
    assert not waiter.wait(0)
    box.submit()
    assert waiter.wait(10_000)
    assert len(box.claim()) == 1
    assert not waiter.wait(0)


def test_a_commit_of_another_topic_wakes_nobody_else(box: Box, waiter: Waiter) -> None:
    """A planned job is due, not work; an end is neither."""
    box.submit(after_ms=5)
    assert waiter.wait(10_000)
    with box.ledger.write() as tx:
        tx.topics.add("ends")
    assert not waiter.wait(0)


def test_a_transaction_that_left_nothing_wakes_nobody(box: Box, waiter: Waiter) -> None:
    """There is nothing to see."""
    with pytest.raises(ValueError, match="x"), box.ledger.write() as tx:  # noqa: PT012 - the transaction is what must fail
        tx.topics.add("work")
        raise ValueError("x")  # noqa: EM101 - the test's own
    assert not waiter.wait(0)


def test_a_waiter_also_wakes_for_other_descriptors(box: Box, waiter: Waiter) -> None:
    """A stop is not kept waiting."""
    ear, mouth = os.pipe()
    os.write(mouth, b"x")
    assert not waiter.wait(10_000, ear)
    os.close(ear)
    os.close(mouth)


def test_many_wake_ups_are_one_and_a_full_queue_stops_no_writer(box: Box, waiter: Waiter) -> None:
    """A waiter that does not listen costs its writers nothing."""
    for _ in range(2_000):
        box.ledger._waker.wake({"work"})  # noqa: SLF001 - as a commit does
    assert waiter.wait(10_000)
    assert not waiter.wait(0)


def test_a_dead_waiter_is_passed_over_and_replaced(box: Box) -> None:
    """Its socket stays behind; one of the same name takes its place."""
    runtime = box.ledger.place.runtime
    dead = Waiter(runtime, ["work"], "anna")
    dead._socket.close()  # noqa: SLF001 - as the kernel does when it dies
    box.submit(work_id="a")
    born = Waiter(runtime, ["work"], "anna")
    box.submit(work_id="b")
    assert born.wait(10_000)
    born.close()


def test_what_a_killed_waiter_left_behind_goes_with_the_next_commit(box: Box) -> None:
    """A command that was killed has nobody who clears up after it, and each commit would call it for ever."""
    runtime = box.ledger.place.runtime
    dead, other = Waiter(runtime, ["work"], "command-7"), Waiter(runtime, ["ends"], "command-8")
    dead._socket.close()  # noqa: SLF001 - as the kernel does when it dies
    box.submit()
    assert os.listdir(runtime / FOLDER) == ["ends~command-8"]
    other.close()


def test_a_commit_stands_when_nobody_can_be_woken(box: Box) -> None:
    """The runtime folder was taken away under it."""
    shutil.rmtree(box.ledger.place.runtime / FOLDER)
    assert box.submit().new
    assert box.one("SELECT count(*) FROM job") == 1


def test_a_deep_runtime_folder_is_no_obstacle(tmp_path: Path) -> None:
    """Addresses of sockets end at 107 bytes, paths do not."""
    deep = tmp_path / ("x" * 100) / ("y" * 100)
    deep.mkdir(parents=True)
    ear, voice = Waiter(deep, ["work"], "anna"), Waker(deep)
    voice.wake({"work"})
    assert ear.wait(10_000)
    ear.close()
    voice.close()
