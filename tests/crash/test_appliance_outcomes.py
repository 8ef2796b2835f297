"""Whatever a handler returns, raises, prints, takes or breaks, its job comes to an end, and its worker goes on."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import vendor_handlers
from tests.crash.appliance_stage import Appliance, appliance, settings

pytestmark = pytest.mark.crash

ENDS = {
    "retry": ("dead", "retry"),
    "snooze": ("planned", None),
    "reject": ("rejected", "rejected"),
    "unclear": ("unclear", "unclear"),
    "follow": ("done", None),
    "plain": ("done", None),
    "nothing": ("done", None),
    "unknown follow": ("dead", "outcome.UnknownKindError"),
    "split with no fold": ("dead", "part"),
    "raise": ("dead", "raised.ValueError"),
    "raise what cannot be shown": ("dead", "raised._Unshowable"),
    "raise an exit": ("dead", "raised.SystemExit"),
}
UNKEEPABLE = ("dead", "outcome.PayloadError")
BY_THE_HAND = {"file elsewhere", "split into none", "raise a key"}  # the worker of a hand takes these for its nonsense


@pytest.fixture(scope="module")
def box(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Appliance]:
    """One appliance for all: what one test does to it, the next one would notice."""
    with appliance(tmp_path_factory.mktemp("outcomes"), settings(workers=1)) as found:
        yield found


def ends_of(box: Appliance, kind: str) -> dict[str, tuple[str, str | None]]:
    """State and error class of one job for each saying, once all have come to one."""
    names = list(vendor_handlers.SAYINGS)
    ids = dict(zip(names, box.submit(kind, names), strict=True))
    shown = {name: box.stands(id_, "done", "dead", "rejected", "unclear", "planned") for name, id_ in ids.items()}
    return {name: (each.state, each.error_class) for name, each in shown.items()}


def test_p13_no_outcome_stops_a_worker_and_each_ends_in_a_class(box: Appliance) -> None:
    """Wrong types, sizes, numbers, names and kinds count as a failure of their own job alone, and say what was wrong."""
    before = box.pids()
    known = ENDS | {"raise a key": ("dead", "raised.KeyboardInterrupt")}
    assert ends_of(box, "say") == {name: known.get(name, UNKEEPABLE) for name in vendor_handlers.SAYINGS}
    assert box.pids() == before


def test_p13_no_outcome_of_a_hand_stops_its_worker(box: Appliance) -> None:
    """The same through a hand: what it cannot say ends at worst the hand."""
    before = box.pids()
    found = ends_of(box, "locked.say")
    for name in BY_THE_HAND:
        state, error_class = found.pop(name)
        assert state == "dead", name
        assert error_class is not None, name
    assert found == {name: ENDS.get(name, UNKEEPABLE) for name in vendor_handlers.SAYINGS if name not in BY_THE_HAND}
    assert box.pids() == before


@pytest.mark.parametrize("kind", ["untidy", "locked.untidy"])
def test_p13_a_scratch_folder_that_is_taken_away_is_made_anew(box: Appliance, kind: str) -> None:
    """Twice, as the second job would be the one to miss it."""
    before = box.pids()
    assert [shown.state for shown in box.ended(*box.submit(kind, [1, 2]))] == ["done", "done"]
    assert box.pids() == before


@pytest.mark.parametrize(
    ("kind", "payload", "error_class"),
    [
        ("locked.leave", "os._exit", "died.exited"),
        ("locked.hog", None, "died.memory"),
        ("locked.loud", 100_000, "died.garbled"),
        ("locked.spin", None, "died.time_limit"),
    ],
)
def test_p13_a_hand_that_misbehaves_costs_one_attempt_and_no_worker(
    box: Appliance, kind: str, payload: object, error_class: str
) -> None:
    """It is named for what it did, and the next job has a hand again."""
    before = box.pids()
    (shown,) = box.ended(*box.submit(kind, [payload]))  # type: ignore[list-item]
    assert (shown.state, shown.error_class, shown.failures) == ("dead", error_class, 1)
    assert box.ended(*box.submit("locked.note", [1]))[0].state == "done"
    assert box.pids() == before


@pytest.mark.parametrize(
    ("kind", "payload", "error_class"), [("leave", "os._exit", "died.exited"), ("spin", None, "died.time_limit")]
)
def test_p13_a_worker_that_ends_over_its_job_costs_one_failure(
    box: Appliance, kind: str, payload: object, error_class: str
) -> None:
    """Also with exit code 0, which is no success; a successor takes its place."""
    before = box.pids()
    (shown,) = box.ended(*box.submit(kind, [payload]))  # type: ignore[list-item]
    assert (shown.state, shown.error_class, shown.failures, shown.attempt) == ("dead", error_class, 1, 1)
    assert box.ended(*box.submit("note", [1]))[0].state == "done"
    assert box.pids()["worker-default-1"] != before["worker-default-1"]


def test_p1_files_of_an_outcome_are_kept_with_it(box: Appliance, tmp_path: Path) -> None:
    """The row, the bytes and the digest."""
    (id_,) = box.submit("hold", [{"until": 0, "keep": True}])
    box.ended(id_)
    (place,) = box.json("jobs", "show", str(id_))[0]["files"]
    assert (place["name"], place["size_bytes"]) == ("kept", len(b"by attempt 1"))
    assert (box.paths.state / "files" / str(id_) / "1" / "job.kept").read_bytes() == b"by attempt 1"
