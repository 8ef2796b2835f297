"""A reader that stands for ever pins the WAL: it has a bound, intake refuses above it, and all goes on when the reader ends."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path

import apsw
import pytest

from appliance import limits
from appliance.clock import SYSTEM
from appliance.coordination import queue
from appliance.coordination.outcomes import Done, Follow
from appliance.coordination.work import Submission
from appliance.errors import WalFullError
from appliance.store.ledger import LEDGER, Place
from tests.ledger.box import Box, Dial, found, place
from tests.ledger.forked import forked

Tell = Callable[[str], None]
LARGE = "x" * (limits.PAYLOAD_BYTES_MAX - 2)
AT_ONCE = 100


def standing_reader(where: Place) -> Callable[[Tell], None]:
    """A program that begins to read, and never ends."""

    def act(tell: Tell) -> None:
        connection = apsw.Connection(str(where.state / LEDGER), flags=apsw.SQLITE_OPEN_READONLY)
        connection.execute("BEGIN")
        connection.execute("SELECT count(*) FROM job").fetchall()
        tell("reads")
        signal.pause()

    return act


def fill(box: Box) -> None:
    """Hand in work until it is refused; each time emptying the WAL as far as it goes, as a steward does."""
    while True:
        with box.ledger.write() as tx:
            queue.submit(tx, [Submission(kind="noop", payload=LARGE, work_id=os.urandom(8).hex()) for _ in range(AT_ONCE)])
        box.ledger.checkpoint()


def test_p14_a_standing_reader_cannot_make_the_wal_grow_without_bound(tmp_path: Path) -> None:
    """Intake refuses by name, work in hand ends with its follow-ups, and when the reader is gone all is as before."""
    where, dial = place(tmp_path), Dial()
    found(where, SYSTEM).close()
    with forked(standing_reader(where)) as reader:
        assert reader.line() == "reads"
        box = Box(found(where, dial.clock()), dial)
        claimed = box.lease()
        with pytest.raises(WalFullError):
            fill(box)
        assert limits.WAL_BYTES_MAX < box.ledger.wal_bytes() < limits.WAL_BYTES_MAX + 2 * AT_ONCE * limits.PAYLOAD_BYTES_MAX
        assert box.hand_in(claimed, Done(1, then=(Follow(kind="noop", payload="on"),)))
        with pytest.raises(WalFullError):
            box.submit()
        reader.kill()
        box.ledger.checkpoint()
        assert box.ledger.wal_bytes() == 0
        assert box.submit(work_id="next").new
        box.ledger.close()


def test_a_wal_that_nobody_pins_begins_anew_however_much_is_written(box: Box) -> None:
    """With a checkpoint between, twice as many bytes as the bound for emptying it take up no more room than once."""
    most = 0
    for _ in range(4):
        with box.ledger.write() as tx:
            queue.submit(tx, [Submission(kind="noop", payload=LARGE, work_id=os.urandom(8).hex()) for _ in range(10)])
        most = max(most, box.ledger.wal_bytes())
        box.ledger.checkpoint()
    assert most < 2 * 10 * limits.PAYLOAD_BYTES_MAX
