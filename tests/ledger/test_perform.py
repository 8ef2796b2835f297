"""A piece of work done without a worker: what its own files meet, and how much of a fold is in memory at once."""

from __future__ import annotations

import errno
import os
from typing import Any

import pytest

from appliance import errors, limits
from appliance.coordination import handin
from appliance.coordination.outcomes import Done, Folded
from appliance.coordination.splits import Step
from appliance.runtime.call import Call, Perform
from appliance.runtime.kind_argument import KindArgument
from appliance.runtime.work import perform
from appliance.runtime.work.perform import Bench
from tests.ledger.box import Box
from tests.ledger.gathering import fold, gather, parts

KIND = KindArgument(module="m", kind="film", version=1, schema=1, time_limit_ms=1, stall_ms=0, memory_bytes_max=1, backoff_ms=1)


def bench(box: Box, carry_out: Perform) -> Bench:
    """A bench in the box's state folder."""
    scratch = box.ledger.place.state / "scratch"
    scratch.mkdir()
    return Bench(
        state=box.ledger.place.state,
        scratch=scratch,
        perform=carry_out,
        cancelled=lambda lease: False,
        progress=lambda lease, done, total: None,
    )


@pytest.mark.parametrize(
    ("number", "meaning"),
    [(errno.ENOSPC, errors.StorageFullError), (errno.EIO, errors.StorageFailingError)],
    ids=["full", "broken"],
)
def test_p14_a_disk_that_refuses_a_file_is_no_failure_of_the_work(
    box: Box, monkeypatch: pytest.MonkeyPatch, number: int, meaning: type[Exception]
) -> None:
    """It is an error of the storage, which ends the process, and never an outcome."""

    def refuse(_descriptor: int) -> None:
        raise OSError(number, os.strerror(number))

    claimed = box.lease("film")
    at = bench(box, lambda call: Done("x", files={"name": b"content"}))
    monkeypatch.setattr(os, "fdatasync", refuse)
    with pytest.raises(meaning):
        perform.do(at, claimed, KIND)


def test_a_fold_with_much_output_in_memory_commits_it_before_the_next_part(box: Box, monkeypatch: pytest.MonkeyPatch) -> None:
    """It goes on with the next claim, where it stopped."""
    monkeypatch.setattr(limits, "STEP_BYTES_ENOUGH", 10)

    def folded(call: Call) -> Any:  # noqa: ANN401 - a handler's
        return Folded(None, b"123456") if call.function == "fold" else Done("all")

    gather(box, count=3, window=3)
    for claimed in parts(box).values():
        box.hand_in(claimed, Done("part"))
    at = bench(box, folded)
    steps = []
    for _ in range(2):
        returned = perform.do(at, fold(box), KIND)
        assert isinstance(returned.outcome, Step)
        steps.append((returned.outcome.folded, returned.outcome.output_bytes))
        with box.ledger.write() as tx:
            assert handin.hand_in(tx, returned)
    assert steps == [(2, 12), (3, 18)]
    assert box.one("SELECT state FROM job") == "done"
