"""What becomes of a handler's outcome before it is handed in."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from appliance import Context, Done, Follow, job
from appliance.coordination.handin import Returned
from appliance.coordination.handlers import Handler
from appliance.coordination.outcomes import Json
from appliance.coordination.work import Claimed, JobId, Lease
from appliance.runtime.call import in_place
from appliance.runtime.kind_argument import KindArgument
from appliance.runtime.work import perform
from appliance.runtime.work.perform import Bench

KIND = KindArgument(module="vendor", kind="shop", version=1, schema=1, time_limit_ms=1_000, memory_bytes_max=1 << 30, backoff_ms=1)


def done(tmp_path: Path, handler: Handler, payload: Json, id_: int = 1) -> Returned:
    """A piece of work done by a handler in this process."""
    scratch = tmp_path / "scratch"
    scratch.mkdir(exist_ok=True)
    bench = Bench(
        state=tmp_path,
        scratch=scratch,
        perform=in_place({("vendor", "shop"): handler}),
        cancelled=lambda lease: False,
        progress=lambda lease, count, total: None,
    )
    lease = Lease(noun="job", id=JobId(id_), attempt=1, fence=1)
    claimed = Claimed(lease=lease, kind="shop", version=1, rank=1, payload=payload, failures=0, failures_max=5)
    return perform.do(bench, claimed, KIND)


def test_a_result_is_what_it_was_when_the_handler_returned(tmp_path: Path) -> None:
    """A handler may fill one object again for each job of a batch, which is handed in as a whole."""
    shared: dict[str, Any] = {}

    @job("shop")
    def shop(_context: Context, payload: Json) -> Done:
        shared["number"] = payload
        return Done(shared, then=[Follow(kind="shop", payload=shared)])

    batch = [done(tmp_path, shop, number) for number in (1, 2)]
    outcomes = [each.outcome for each in batch]
    assert all(isinstance(outcome, Done) for outcome in outcomes)
    results = [(outcome.result, outcome.then[0].payload) for outcome in outcomes if isinstance(outcome, Done)]
    assert [tuple(json.loads(str(text)) for text in each) for each in results] == [({"number": 1},) * 2, ({"number": 2},) * 2]


@pytest.mark.parametrize("left", ["file", "folder", "link", "gone"])
def test_an_attempt_finds_its_scratch_folder_empty(tmp_path: Path, left: str) -> None:
    """Whatever the attempt before did to it; what a link leads to is nobody's to empty."""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "kept").touch()

    @job("shop")
    def shop(context: Context, _payload: Json) -> Json:
        found = len(list(context.scratch.iterdir()))
        if left == "file":
            (context.scratch / "file").touch()
        elif left == "folder":
            (context.scratch / "folder").mkdir()
            (context.scratch / "folder" / "inside").touch()
        else:
            context.scratch.rmdir()
            if left == "link":
                context.scratch.symlink_to(elsewhere)
        return found

    outcomes = [done(tmp_path, shop, None, id_).outcome for id_ in (1, 2)]
    assert [outcome.result for outcome in outcomes if isinstance(outcome, Done)] == ["0", "0"]
    assert (elsewhere / "kept").exists()
    assert (tmp_path / "scratch").is_dir()
    assert not (tmp_path / "scratch").is_symlink()
