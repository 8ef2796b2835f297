"""A real appliance in the shapes of reports: an interpreter that stands still, a pool of one under kills, opens of its files."""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import sys
import termios
from pathlib import Path

import pytest

from appliance import limits
from appliance.store.ledger import LEDGER, Ledger
from tests.crash.appliance_stage import ROOT, Appliance, appliance, settings
from tests.crash.facts import until
from tests.crash.gates import Gate
from tests.crash.test_appliance_deaths import kill

pytestmark = pytest.mark.crash
COMMANDS = (("submit", "note", "--payload", "7", "--wait"), ("status",), ("jobs", "list"), ("jobs", "show", "1"))
HANDLERS = settings(modules=["tests.reported_handlers"])


def test_p5_an_interpreter_that_stands_still_costs_its_worker_nothing(tmp_path: Path) -> None:
    """No thread of the worker gets a turn for longer than any beat may be missed: its life is the kernel's to know."""
    gate = Gate(tmp_path / "gate")
    with appliance(tmp_path, HANDLERS) as box:
        before = box.pids()
        (id_,) = box.submit("grip", [gate.payload(ms=limits.BEAT_MISSED_MS + 1_000)])
        (shown,) = box.ended(id_)
        assert (shown.state, shown.attempt, shown.result) == ("done", 1, {"attempt": 1})
        assert box.moves(id_) == ["submit", "claim", "finish"]
        assert (box.pids(), len(gate.began())) == (before, 1)


def test_p3_a_pool_of_one_never_works_on_two_whatever_is_killed(tmp_path: Path) -> None:
    """The next process is made when the last one is buried with all it had started; no counter says that there is room."""
    gate = Gate(tmp_path / "gate")
    with appliance(tmp_path, HANDLERS) as box:
        ids = box.submit("alone", [gate.payload(lock=str(tmp_path / "lock"), n=number) for number in range(3)])
        for number in range(1, 4):
            gate.calls(number)
            kill(box.complete()["worker-locked-1"])
        gate.calls(4)
        gate.open()
        assert {each.state for each in box.ended(*ids)} == {"done"}
        assert len({call.pid for call in gate.began()}) >= 4


class Heard(Appliance):
    """An appliance whose every open is heard."""

    __slots__ = ()

    @property
    def argv(self) -> list[str]:
        """The beginning of every command."""
        return [sys.executable, "-m", "tests.crash.audit_opens", str(self.folder / "found"), *super().argv[3:]]


def test_p1_nothing_but_the_engine_ever_opens_the_ledger_s_files(tmp_path: Path) -> None:
    """From the first start over work, a death, a reload, commands and a stop to the next start: an open beside it drops locks."""
    box = Heard(folder=tmp_path)
    box.settle(settings())
    try:
        box.start()
        ids = [*box.submit("note", list(range(20))), *box.submit("locked.note", [1])]
        box.ended(*ids)
        os.kill(box.pids()["worker-default-1"], signal.SIGKILL)
        assert box.process is not None
        box.process.send_signal(signal.SIGHUP)
        for arguments in (
            ("submit", "note", "--payload", "7", "--wait"),
            ("status",),
            ("jobs", "list"),
            ("jobs", "show", str(ids[0])),
        ):
            assert box.command(*arguments).returncode == 0
        assert box.stop() == 0
        box.start()
        assert box.stop() == 0
    finally:
        box.close()
    assert not (tmp_path / "found").exists(), (tmp_path / "found").read_text()


def test_an_open_beside_the_engine_is_heard(tmp_path: Path) -> None:
    """The ear of the test above is not deaf, nor is that of a child."""
    (tmp_path / LEDGER).touch()
    body = f"""
import os
from pathlib import Path
from tests.crash.audit_opens import listen
listen({str(tmp_path / "found")!r})
Path({str(tmp_path / LEDGER)!r}).read_bytes()
if os.fork() == 0:
    os.close(os.open({str(tmp_path / LEDGER)!r}, os.O_RDONLY))
    os._exit(0)
os.wait()
"""
    subprocess.run([sys.executable, "-c", body], cwd=ROOT, check=True, timeout=60)
    assert len((tmp_path / "found").read_text().splitlines()) == 2


def waiting_bytes(pipe: int) -> int:
    """How much lies in a pipe and is not read (ioctl FIONREAD, tty_ioctl(4))."""
    answer = fcntl.ioctl(pipe, termios.FIONREAD, b"\0" * 4)
    return int.from_bytes(answer, sys.byteorder)


def emptied(ledger: Ledger) -> bool:
    """Whether the WAL is empty after a checkpoint."""
    ledger.checkpoint()
    return ledger.wal_bytes() == 0


def test_a_command_whose_output_nobody_reads_pins_nothing(tmp_path: Path) -> None:
    """It has read and ended before it prints, so the WAL can be emptied while it waits for its own reader."""
    with appliance(tmp_path) as box:
        box.submit("note", list(range(1_000)))
        command = box.begin("jobs", "list", "--most", "1000", "--json")
        assert command.stdout is not None
        pipe = command.stdout.fileno()
        until(lambda: waiting_bytes(pipe) > 60_000, what="a pipe that is full")
        box.ended(*box.submit("note", ["after"]))
        with box.ledger() as ledger:
            until(lambda: emptied(ledger), what="an empty WAL")
        assert command.poll() is None
        command.communicate(timeout=30)
