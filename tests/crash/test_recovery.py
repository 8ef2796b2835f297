"""A restart after a failed sync: the latch opens when the storage is well, and what was in memory only is on the disk."""

from __future__ import annotations

from pathlib import Path

import apsw
import pytest

from appliance import errors
from appliance.store import recovery
from appliance.store.ledger import LEDGER, Ledger
from tests.crash.faulty_vfs import Fault, faulty
from tests.ledger.box import Box, Dial, found, place

pytestmark = pytest.mark.crash


def sync_fault() -> Fault:
    """From some sync on, none succeeds."""
    return Fault("xSync", apsw.IOError, apsw.SQLITE_IOERR_FSYNC, 0, sticky=True)


def latched(folder: Path, fault: Fault) -> Box:
    """A ledger with one acknowledged job, and one whose commit is unknown; its storage is latched, its processes are gone."""
    dial = Dial()
    where = place(folder, vfs="faulty")
    box = Box(found(where, dial.clock()), dial)
    box.submit(work_id="sure")
    fault.armed = True
    with pytest.raises(errors.StorageFailingError):
        box.submit(work_id="unknown")
    box.ledger.close()
    return box


def reopened(box: Box) -> Box:
    """The same ledger, opened by a new process."""
    return Box(Ledger(box.ledger.place, box.dial.clock(), 2), box.dial)


def test_p1_a_restart_opens_the_latch_when_the_storage_is_well(tmp_path: Path) -> None:
    """The acknowledged job is there, the unknown one may be, and intake goes on."""
    with faulty("faulty", sync_fault()) as fault:
        box = latched(tmp_path, fault)
        fault.armed = False
        assert recovery.recover(box.ledger.place, box.dial.clock(), 1)
        box = reopened(box)
        assert box.one("SELECT count(*) FROM job WHERE work_id = 'sure'") == 1
        assert box.submit(work_id="next").new
        box.submit(work_id="unknown")
        assert box.one("SELECT count(*) FROM job WHERE work_id = 'unknown'") == 1
        box.ledger.close()


def test_a_restart_leaves_the_latch_while_the_storage_is_failing(tmp_path: Path) -> None:
    """It says so, intake refuses, and reads go on."""
    with faulty("faulty", sync_fault()) as fault:
        box = latched(tmp_path, fault)
        with pytest.raises(errors.StorageFailingError, match="still failing"):
            recovery.recover(box.ledger.place, box.dial.clock(), 1)
        box = reopened(box)
        assert box.ledger.failing()
        with pytest.raises(errors.StorageFailingError):
            box.submit(work_id="next")
        assert box.one("SELECT count(*) FROM job WHERE work_id = 'sure'") == 1
        box.ledger.close()


def test_a_restart_without_a_latch_has_nothing_to_recover(tmp_path: Path) -> None:
    """It writes nothing."""
    dial, where = Dial(), place(tmp_path)
    found(where, dial.clock()).close()
    before = (where.state / f"{LEDGER}-wal").read_bytes()
    assert not recovery.recover(where, dial.clock(), 1)
    assert (where.state / f"{LEDGER}-wal").read_bytes() == before


def test_the_wal_is_written_again_byte_for_byte(tmp_path: Path) -> None:
    """Beside a reader, which keeps it from being emptied; what it holds is the same, and dirty."""
    with faulty("faulty", sync_fault()) as fault:
        box = latched(tmp_path, fault)
        fault.armed = False
        wal = box.ledger.place.state / f"{LEDGER}-wal"
        reader = apsw.Connection(str(box.ledger.place.state / LEDGER))
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM job").fetchall()
        before, written = wal.read_bytes(), wal.stat().st_mtime_ns
        assert recovery.recover(box.ledger.place, box.dial.clock(), 1)
        assert wal.read_bytes() == before
        assert wal.stat().st_mtime_ns > written
        reader.close()
