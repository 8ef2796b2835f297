"""The power goes at every operation of the disk, under the store's own code: nothing acknowledged is lost, nothing is half there.

A workload of every kind of transaction runs on a recorded disk.  For each operation several images are made of what a cut there
could leave; each is opened by plain SQLite, recovered, checked whole, and compared: it must be the state after some commit, not
before the newest acknowledged one, not after the newest that had begun.  The same search must find losses where the store is made
weaker than it is: otherwise it would prove nothing.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import apsw
import pytest

from appliance.coordination import triggers
from appliance.store import migrations
from appliance.store.ledger import LEDGER, Ledger
from tests.crash.powercut_vfs import Disk, Policy, Trace, recorded
from tests.crash.workload import Workload, snapshot
from tests.ledger.box import Dial, found, place

pytestmark = pytest.mark.crash

POLICIES: tuple[Policy, ...] = ("drop", "keep", "mix", "mix")


@dataclass(slots=True)
class Record:
    """A run of the workload: its trace from the first commit on, and the place of every state in the order of commits."""

    trace: Trace
    states: dict[str, tuple[int, int]]
    first: int


def record(folder: Path, seed: int, steps: int, **how: Any) -> Record:  # noqa: ANN401 - fields of a Place
    """Run the workload over two connections."""
    name = f"recorder-{seed}-{folder.name}"
    with recorded(name) as trace:
        dial, where = Dial(), place(folder, vfs=name, **how)
        ledgers = (found(where, dial.clock()), Ledger(where, dial.clock(), 2))
        ledgers[0].checkpoint()
        work = Workload(ledgers, dial, random.Random(seed), trace.note)
        with work.commit():
            pass  # the state as found is the first
        first = len(trace.ops)
        for _ in range(steps):
            work.act()
        for ledger in ledgers:
            ledger.close()
    return Record(trace, work.states, first)


@dataclass(slots=True)
class Search:
    """What the cuts of one record came to."""

    images: int = 0
    wrong: list[str] = field(default_factory=list)


def cuts(taken: Record, *, garbles: bool, policies: tuple[Policy, ...]) -> Iterator[tuple[str, dict[str, bytes], int, int]]:
    """Every distinct image with the oldest and the newest commit that it may show."""
    disk, low, high, seen = Disk(garbles), 1, 1, set()
    for place_in_trace, op in enumerate(taken.trace.ops):
        if op.what == "begin":
            high = op.at
        elif op.what == "ack":
            low = op.at
        disk.apply(op)
        if place_in_trace < taken.first:
            continue
        for number, policy in enumerate(policies):
            image = disk.image(policy, random.Random(f"{place_in_trace}/{number}"))
            image.pop(f"{LEDGER}-shm", None)
            if (key := (low, hash(tuple(image.items())))) not in seen:
                seen.add(key)
                yield f"{policy} at operation {place_in_trace}", image, low, high


def found_wrong(folder: Path, image: dict[str, bytes], states: dict[str, tuple[int, int]], low: int, high: int) -> str | None:
    """Open an image by plain SQLite; what is wrong with it."""
    for left in folder.iterdir():
        left.unlink()
    for name, content in image.items():
        (folder / name).write_bytes(content)
    connection = apsw.Connection(str(folder / LEDGER))
    connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)  # the image is thrown away: no sync is waited for
    try:
        if (verdict := connection.execute("PRAGMA integrity_check").get) != "ok":
            return f"corrupt: {verdict}"
        commits = states.get(snapshot(connection))
    except apsw.Error as error:
        return f"corrupt: {error}"
    finally:
        connection.close()
    if commits is None:
        return "not the state after any commit"
    first, last = commits
    return None if first <= high and low <= last else f"shows commit {last}, acknowledged was {low}, begun {high}"


def search(taken: Record, folder: Path, *, garbles: bool, policies: tuple[Policy, ...] = POLICIES, most: int = 1 << 30) -> Search:
    """Try the cuts of a record, until ``most`` images are wrong."""
    result = Search()
    for where, image, low, high in cuts(taken, garbles=garbles, policies=policies):
        result.images += 1
        if wrong := found_wrong(folder, image, taken.states, low, high):
            result.wrong.append(f"{where}: {wrong}")
            if len(result.wrong) >= most:
                break
    return result


@pytest.fixture
def folders(tmp_path: Path) -> Callable[[], tuple[Path, Path]]:
    """Two new folders: one to run in, one for images."""
    numbers = iter(range(100))

    def make() -> tuple[Path, Path]:
        made = tmp_path / f"run{(number := next(numbers))}", tmp_path / f"image{number}"
        for folder in made:
            folder.mkdir()
        return made

    return make


def test_p1_a_power_cut_at_any_operation_loses_nothing_acknowledged(folders: Callable[[], tuple[Path, Path]]) -> None:
    """Submit, claim, finish with follow-ups, retry, split, parts, fold and checkpoint, on media whose torn sectors are rubbish."""
    run, images = folders()
    result = search(record(run, 1, 220), images, garbles=True)
    assert not result.wrong
    assert result.images >= 10_000


def test_p1_nothing_is_lost_on_storage_configured_as_safe(folders: Callable[[], tuple[Path, Path]]) -> None:
    """With powersafe overwrite, commits are not padded; torn sectors keep their neighbours."""
    run, images = folders()
    result = search(record(run, 2, 60, safe_overwrite=True), images, garbles=False)
    assert not result.wrong
    assert result.images >= 1_000


def test_p1_the_search_finds_losses_where_commits_are_not_synced(folders: Callable[[], tuple[Path, Path]]) -> None:
    """The same store with ``synchronous = NORMAL``: were it ever put back, the search goes red."""
    run, images = folders()
    result = search(record(run, 1, 60, synchronous="normal"), images, garbles=True, most=20)
    assert len(result.wrong) == 20
    assert "acknowledged was" in result.wrong[0]


def test_p1_the_search_finds_losses_where_media_are_trusted_too_much(folders: Callable[[], tuple[Path, Path]]) -> None:
    """Powersafe overwrite claimed for media that garble torn sectors: a commit may damage the acknowledged one before it."""
    run, images = folders()
    result = search(record(run, 3, 60, safe_overwrite=True), images, garbles=True, policies=("mix",) * 8, most=1)
    assert result.wrong


@pytest.mark.parametrize("policy", ["drop", "keep", "mix"])
def test_p16_a_power_cut_while_the_ledger_is_made_leaves_one_that_can_be_made(
    folders: Callable[[], tuple[Path, Path]], policy: Policy
) -> None:
    """The first start of a box may be cut too: the next start migrates what is there."""
    run, images = folders()
    where = place(images)
    taken = record(run, 4, 0)
    disk = Disk(garbles=True)
    for number, op in enumerate(taken.trace.ops[: taken.first]):
        disk.apply(op)
        for left in where.state.iterdir():
            left.unlink()
        for name, content in disk.image(policy, random.Random(number)).items():
            (where.state / name).write_bytes(content)
        migrations.migrate(where, Dial(boot_id="again").clock(), triggers.statements(), release="test")
        connection = apsw.Connection(str(where.state / LEDGER))
        assert connection.execute("SELECT count(*), sum(incarnation <> '') FROM ledger").fetchall() == [(1, 1)]
        assert connection.execute("PRAGMA integrity_check").get == "ok"
        connection.close()
