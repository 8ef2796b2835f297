"""A split job's bytes are those of one process, whatever dies; its storage follows its window."""

from __future__ import annotations

import hashlib
import os
import random
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from appliance.clock import SYSTEM
from appliance.coordination import files, history
from tests.crash.appliance_stage import Appliance, appliance, hands, settings
from tests.crash.facts import until

pytestmark = pytest.mark.crash
PARTS, WINDOW = 200, 8
PART_BYTES = 1024


def expected(parts: int) -> dict[str, Any]:
    """What one process would have written, computed here without an appliance."""
    output, chain = hashlib.sha256(), ""
    for ordinal in range(parts):
        content = hashlib.sha256(b"seed" + str(ordinal).encode()).digest() * 32
        output.update(content)
        chain = hashlib.sha256(f"{chain}{hashlib.sha256(content).hexdigest()}".encode()).hexdigest()
    return {"chain": chain, "sha256": output.hexdigest(), "size": parts * PART_BYTES}


def bytes_of(box: Appliance, id_: int) -> str:
    """The digest of the output as it lies in the state folder."""
    with box.ledger() as ledger:
        (output,) = [place for place in history.files(ledger, id_) if place.name.startswith("output.")]
    return hashlib.sha256(files.path(box.paths.state, output).read_bytes()).hexdigest()


@pytest.mark.parametrize("workers", [1, 2, 4])
def test_p7_the_bytes_do_not_depend_on_the_number_of_workers(tmp_path: Path, workers: int) -> None:
    """In place and in hands."""
    with appliance(tmp_path, settings(workers=workers, locked=workers)) as box:
        ids = [*box.submit("slices", [{"parts": 60, "window": WINDOW}]), *box.submit("locked.slices", [{"parts": 60, "window": 5}])]
        for shown in box.ended(*ids, seconds=40):
            assert (shown.state, shown.result, shown.failures) == ("done", expected(60), 0)
            assert bytes_of(box, shown.id) == expected(60)["sha256"]


@contextmanager
def watched(box: Appliance, id_: int, most: dict[str, int]) -> Iterator[None]:
    """Look at the storage of a job while the block runs a look at a time."""
    folder = box.paths.state / "files" / str(id_)
    with box.ledger() as ledger:

        def look() -> bool:
            parts = ledger.read("SELECT count(*) FROM part WHERE job_id = ?", (id_,))[0][0]
            count = sum(1 for path in folder.rglob("part.*"))
            most["parts"], most["files"] = max(most["parts"], parts), max(most["files"], count)
            return bool(ledger.read("SELECT 1 FROM job WHERE id = ? AND state = 'done'", (id_,)))

        until(look, seconds=40, what="the end of the job")
        yield


def test_p8_storage_follows_the_window(tmp_path: Path) -> None:
    """At no look are there more parts than the window, nor files of twice as many; at the end there are none."""
    most = {"parts": 0, "files": 0}
    with appliance(tmp_path) as box:
        (id_,) = box.submit("slices", [{"parts": PARTS, "window": WINDOW}])
        with watched(box, id_, most):
            assert 0 < most["parts"] <= WINDOW
            assert most["files"] <= 2 * WINDOW
        until(lambda: not list((box.paths.state / "files").rglob("part.*")), what="the removal of the last parts' files")
        with box.ledger() as ledger:
            assert ledger.read("SELECT count(*) FROM part") == [(0,)]


def victims(box: Appliance) -> list[int]:
    """Everybody whom a kill may meet: workers, hands, the steward."""
    living = list(box.pids().values())
    return living + [hand for worker in living for hand in hands(worker)]


def kill_at_random(box: Appliance, chance: random.Random, ids: list[int], *, kills: int, gap_ms: int) -> int:
    """Kill somebody at random gaps, one time in ten the supervisor, until the jobs end; how often."""
    done = 0
    while done < kills and any(box.show(id_).state not in ("done", "dead", "unclear") for id_ in ids):
        end = SYSTEM.boot() + chance.randrange(2 * gap_ms)
        until(lambda end=end: SYSTEM.boot() >= end)  # type: ignore[misc]
        if done % 10 == 9:
            box.stop(signal.SIGKILL)
            until(lambda: not box.members(), seconds=2, what="the end of all processes")
            box.start()
        elif candidates := victims(box):
            os.kill(chance.choice(candidates), signal.SIGKILL)
        done += 1
    return done


def kept(box: Appliance) -> list[str]:
    """The files of the jobs, by what they are."""
    names = [path.name.split(".") for path in (box.paths.state / "files").rglob("*") if path.is_file()]
    return sorted("output" if last.isdecimal() else last for *_, last in names)


@pytest.mark.parametrize(
    ("seed", "parts", "kills"), [(1, 120, 20), *(pytest.param(seed, PARTS, 30, marks=pytest.mark.soak) for seed in range(2, 30))]
)
def test_p7_the_bytes_do_not_depend_on_who_dies(tmp_path: Path, seed: int, parts: int, kills: int) -> None:
    """Anybody at random, the supervisor too: no job is lost, no byte is other, and the next start leaves no file over."""
    with appliance(tmp_path, settings(workers=2, locked=2)) as box:
        asked = {"parts": parts, "window": WINDOW, "wait_ms": 30}
        ids = [*box.submit("slices", [asked]), *box.submit("locked.slices", [asked])]
        died = kill_at_random(box, random.Random(seed), ids, kills=kills, gap_ms=150)
        assert died >= kills // 2
        for shown in box.ended(*ids, seconds=100):
            assert (shown.state, shown.result) == ("done", expected(parts))
            assert bytes_of(box, shown.id) == expected(parts)["sha256"]
        box.stop()
        box.start()
        until(lambda: kept(box) == ["chain", "chain", "output", "output", "seed", "seed"], what="the removal of all other files")


def test_p12_files_that_no_row_names_go_and_what_a_person_put_there_stays(tmp_path: Path) -> None:
    """A folder of notes among the jobs' ends no steward: it sweeps on, and work goes on."""
    with appliance(tmp_path, start=False) as box:
        left, notes = box.paths.state / "files/1/1/job.left", box.paths.state / "files/notes/of/today"
        for path in (left, notes):
            path.parent.mkdir(parents=True)
            path.touch()
        box.start()
        until(lambda: not left.exists(), what="the removal of what no row names")
        assert notes.exists()
        assert [shown.state for shown in box.ended(*box.submit("note", [1]))] == ["done"]
