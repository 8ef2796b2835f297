"""The disk refuses an operation under the store's own code: nothing acknowledged is lost, and every error has its meaning.

A small workload is run again and again, each time with another operation refused, once or from then on.  It keeps what was
acknowledged, level by level for each piece of work, and goes on after each error, as a worker would.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

import apsw
import pytest

from appliance import errors
from appliance.coordination import queue, triggers
from appliance.coordination.outcomes import Done, Follow
from appliance.coordination.work import Submission
from appliance.store import migrations
from appliance.store.ledger import LEDGER, Ledger, Place
from tests.crash.faulty_vfs import Fault, Operation, faulty
from tests.ledger.box import Box, Dial, found, place

pytestmark = pytest.mark.crash

STEPS = 15
LEVELS = {"ready": 1, "leased": 2, "done": 3}
BROKEN = """SELECT count(*) FROM job
 WHERE moves <> (SELECT count(*) FROM event WHERE job_id = job.id AND noun = 'job' AND move <> 'late')
    OR (state = 'done') <> EXISTS (SELECT 1 FROM result WHERE job_id = job.id)"""


@dataclass(frozen=True, slots=True)
class Kind:
    """One way to refuse, and whether it says that the storage is failing."""

    name: str
    operation: Operation
    error: type[apsw.Error]
    extended: int
    failing: bool
    half: bool = False
    stride: int = 1


KINDS = (
    Kind("write", "xWrite", apsw.IOError, apsw.SQLITE_IOERR_WRITE, failing=True, stride=5),
    Kind("sync", "xSync", apsw.IOError, apsw.SQLITE_IOERR_FSYNC, failing=True),
    Kind("full", "xWrite", apsw.FullError, apsw.SQLITE_FULL, failing=False, stride=5),
    Kind("half a write", "xWrite", apsw.FullError, apsw.SQLITE_FULL, failing=False, half=True, stride=5),
    Kind("truncate", "xTruncate", apsw.IOError, apsw.SQLITE_IOERR_TRUNCATE, failing=True),
    Kind("read", "xRead", apsw.IOError, apsw.SQLITE_IOERR_READ, failing=True, stride=3),
    Kind("size", "xFileSize", apsw.IOError, apsw.SQLITE_IOERR_FSTAT, failing=True),
)


@dataclass(slots=True)
class Diary:
    """What a run was told: the level that each piece of work surely reached, and the errors it met."""

    sure: dict[str, int] = field(default_factory=dict)
    met: list[errors.ApplianceError] = field(default_factory=list)


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A new ledger, closed and whole in one file."""
    folder = tmp_path_factory.mktemp("template")
    ledger = found(place(folder), Dial().clock())
    ledger.checkpoint()
    ledger.close()
    return folder / "state" / LEDGER


@pytest.fixture(autouse=True)
def _meant(monkeypatch: pytest.MonkeyPatch) -> None:
    """The engine cannot hand on what a VFS raises while it cleans up; here that is meant."""
    monkeypatch.setattr(sys, "unraisablehook", lambda *_: None)


def fresh(template: Path, folder: Path, vfs: str) -> Place:
    """A copy of the template in a folder of its own."""
    folder.mkdir()
    where = place(folder, vfs=vfs)
    shutil.copy(template, where.state / LEDGER)
    return where


def step(box: Box, number: int, diary: Diary) -> None:
    """Submit, claim, finish with a follow-up, checkpoint: in turn."""
    match number % 5:
        case 0 | 1:
            with box.ledger.write() as tx:
                queue.submit(tx, [Submission(kind="noop", work_id=f"{number}", payload="x" * 3_000)])
            diary.sure[f"{number}"] = 1
        case 2:
            claimed = box.claim(most=1)
            diary.sure |= {box.job(each.lease.id, "work_id"): 2 for each in claimed}
        case 3:
            for each in [each for each in box.claim(most=1) if each.kind == "noop"]:
                named = box.job(each.lease.id, "work_id")
                box.hand_in(each, Done("y" * 500, [Follow(kind="film", payload=number)]))
                diary.sure[named] = 3
        case _:
            box.ledger.checkpoint()


def live(box: Box, fault: Fault, diary: Diary) -> None:
    """The workload under the fault, going on after each error."""
    fault.armed = True
    for number in range(STEPS):
        try:
            step(box, number, diary)
        except (errors.StorageFailingError, errors.StorageFullError) as error:
            diary.met.append(error)
    fault.armed = False


def reached(path: Path) -> dict[str, int]:
    """How far each piece of work came, by a plain look at a whole ledger."""
    connection = apsw.Connection(str(path))
    assert connection.execute("PRAGMA integrity_check").get == "ok"
    assert connection.execute(BROKEN).get == 0
    rows: list[tuple[Any, ...]] = connection.execute("SELECT work_id, state FROM job").fetchall()
    connection.close()
    return {work_id: LEVELS[state] for work_id, state in rows}


def crashed(where: Place) -> Path:
    """The ledger as a kill of all its processes leaves it now."""
    aside = where.state / "crash"
    aside.mkdir()
    for name in (LEDGER, f"{LEDGER}-wal"):
        shutil.copy(where.state / name, aside / name)
    return aside / LEDGER


def attempts(kind: Kind, sticky: bool) -> Iterator[Fault]:  # noqa: FBT001 - the parameter of the test
    """Every point at which this fault can strike."""
    for at in count(0, kind.stride):
        fault = Fault(kind.operation, kind.error, kind.extended, at, sticky, half=kind.half)
        yield fault
        if not fault.hits:
            return


@pytest.mark.parametrize("sticky", [False, True], ids=["once", "sticky"])
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_p14_a_disk_that_refuses_loses_nothing_acknowledged(
    kind: Kind,
    sticky: bool,  # noqa: FBT001 - the parameter of the test
    template: Path,
    tmp_path: Path,
) -> None:
    """At each operation: for the living, for a plain look, and after a crash at that very moment."""
    points = 0
    for fault in attempts(kind, sticky):
        with faulty(f"faulty-{tmp_path.name}-{points}", fault):
            where, dial, diary = fresh(template, tmp_path / str(points), f"faulty-{tmp_path.name}-{points}"), Dial(), Diary()
            box = Box(Ledger(where, dial.clock(), 1), dial)
            live(box, fault, diary)
            after = [reached(crashed(where))]
            assert box.ledger.failing() == any(isinstance(error, errors.StorageFailingError) for error in diary.met)
            if not kind.failing:
                assert not box.ledger.failing()
                assert box.submit(work_id="after").new
            box.ledger.close()
            after.append(reached(where.state / LEDGER))
        for levels in after:
            assert {work: level for work, level in diary.sure.items() if levels.get(work, 0) < level} == {}
        shutil.rmtree(tmp_path / str(points))
        points += 1
    assert points > (1 if kind.name in {"truncate", "size"} else 5)


def broken(template: Path, folder: Path, fault: Fault) -> Box:
    """A ledger on the faulty disk that is registered as ``faulty``."""
    dial = Dial()
    return Box(Ledger(fresh(template, folder, "faulty"), dial.clock(), 1), dial)


def test_p1_a_commit_whose_sync_raised_is_unknown_and_asking_again_is_harmless(template: Path, tmp_path: Path) -> None:
    """The living do not see it, a crash may bring it back: either way the work is there once."""
    with faulty("faulty", Fault("xSync", apsw.IOError, apsw.SQLITE_IOERR_FSYNC, 0, sticky=True)) as fault:
        box = broken(template, tmp_path / "x", fault)
        box.submit(work_id="before")
        fault.armed = True
        with pytest.raises(errors.StorageFailingError, match="unknown"):
            box.submit(work_id="w")
        fault.armed = False
        assert box.one("SELECT count(*) FROM job") == 1
        back = reached(crashed(box.ledger.place))
        box.ledger.close()
    assert back == {"before": 1, "w": 1}
    (tmp_path / "y").mkdir()
    again = place(tmp_path / "y")
    shutil.copy(tmp_path / "x" / "state" / "crash" / LEDGER, again.state / LEDGER)
    box = Box(Ledger(again, Dial().clock(), 1), Dial())
    assert not box.submit(work_id="w").new
    box.ledger.close()


def test_p14_a_full_disk_refuses_and_ends_by_itself(template: Path, tmp_path: Path) -> None:
    """It says so each time, reads go on, nobody has to restart anything, and no half of a transaction is there."""
    with faulty("faulty", Fault("xWrite", apsw.FullError, apsw.SQLITE_FULL, 0, sticky=True)) as fault:
        box = broken(template, tmp_path / "x", fault)
        first = box.submit(work_id="before")
        fault.armed = True
        for _ in range(3):
            with pytest.raises(errors.StorageFullError):
                box.submit(work_id="during", payload="x" * 5_000)
            with pytest.raises(errors.StorageFullError):
                box.claim()
            assert box.job(first.id) == "ready"
        fault.armed = False
        assert not box.ledger.failing()
        assert [each.lease.id for each in box.claim()] == [first.id]
        assert box.submit(work_id="during").new
        box.ledger.close()


def test_p14_failing_storage_refuses_intake_until_a_restart_and_reads_go_on(template: Path, tmp_path: Path) -> None:
    """One sync that raised, though the disk would take the next one: after it no sync says anything any more."""
    with faulty("faulty", Fault("xSync", apsw.IOError, apsw.SQLITE_IOERR_FSYNC, 0, sticky=False)) as fault:
        box = broken(template, tmp_path / "x", fault)
        other = Ledger(box.ledger.place, Dial().clock(), 2)
        first = box.submit(work_id="before")
        fault.armed = True
        with pytest.raises(errors.StorageFailingError):
            box.claim()
        for ledger in (box.ledger, other):
            with pytest.raises(errors.StorageFailingError), ledger.write():
                pass
            assert ledger.read("SELECT state FROM job WHERE id = ?", (first.id,)) == [("ready",)]
        other.close()
        box.ledger.close()


def test_a_read_that_the_disk_refuses_says_so_and_latches_nothing(template: Path, tmp_path: Path) -> None:
    """It says nothing about any commit."""
    with faulty("faulty", Fault("xRead", apsw.IOError, apsw.SQLITE_IOERR_READ, 0, sticky=True)) as fault:
        box = broken(template, tmp_path / "x", fault)
        fault.armed = True
        with pytest.raises(errors.StorageFailingError):
            box.ledger.read("SELECT * FROM job, event, part")
        fault.armed = False
        assert not box.ledger.failing()
        assert box.submit().new
        box.ledger.close()


@pytest.mark.parametrize(
    ("error", "extended", "ours"),
    [
        (apsw.FullError, apsw.SQLITE_FULL, errors.StorageFullError),
        (apsw.IOError, apsw.SQLITE_IOERR_WRITE, errors.StorageFailingError),
    ],
    ids=["full", "write"],
)
def test_p14_a_ledger_that_cannot_be_made_says_why(
    tmp_path: Path, error: type[apsw.Error], extended: int, ours: type[errors.ApplianceError]
) -> None:
    """At each write of its making; when there is room again, it is made."""
    for at in count(0, 5):
        with faulty("faulty", Fault("xWrite", error, extended, at, sticky=True, armed=True)) as fault:
            (tmp_path / str(at)).mkdir()
            where = place(tmp_path / str(at), vfs="faulty")
            try:
                migrations.migrate(where, Dial().clock(), triggers.statements(), release="test")
            except ours:
                fault.armed = False
                migrations.migrate(where, Dial().clock(), triggers.statements(), release="test")
            else:
                break
    assert at > 20
