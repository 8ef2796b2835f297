"""``appliance submit``: what is handed in, once, and what is refused, in words."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from pathlib import Path

import pytest

from tests.crash.appliance_stage import Appliance
from tests.e2e.manners import plain, refused

pytestmark = pytest.mark.crash


def count(box: Appliance) -> int:
    """How many jobs there are."""
    with box.ledger() as ledger:
        rows = ledger.read("SELECT count(*) FROM job")
    found: int = rows[0][0]
    return found


def test_a_job_is_handed_in_and_waited_for(box: Appliance) -> None:
    """Its state at first and at last, on plain lines; exit code 0."""
    done = box.command("submit", "note", "--payload", '{"a":1}', "--wait")
    assert done.returncode == 0
    first, last = done.stdout.splitlines()
    assert first.endswith("ready")
    assert last.endswith("done")
    assert plain(done.stdout + done.stderr)


def test_asking_twice_is_asking_once(box: Appliance) -> None:
    """The same job is the answer; --again makes a further round."""
    first, second = (box.json("submit", "note", "--payload", '"twice"')[0] for _ in range(2))
    assert (first["new"], second["new"], first["id"]) == (True, False, second["id"])
    (third,) = box.json("submit", "note", "--payload", '"twice"', "--again")
    assert (third["new"], third["id"] != first["id"]) == (True, True)


def test_a_job_that_comes_to_a_bad_end_gives_exit_code_1(box: Appliance) -> None:
    """And its error."""
    done = box.command("submit", "say", "--payload", '"reject"', "--wait")
    assert done.returncode == 1
    assert "rejected: as asked" in done.stdout
    told = box.json("submit", "say", "--payload", '"reject"', "--wait")
    assert told[-1] == {"id": told[0]["id"], "state": "rejected", "result": None, "error": "as asked"}


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (("nobody.knows",), 65, "no handler of kind 'nobody.knows'"),
        (("note", "--payload", "{"), 65, "--payload is not JSON"),
        (("note", "--payload", ""), 65, "--payload is not JSON"),
        (("note", "--payload", "NaN"), 65, "is not JSON"),
        (("note", "--payload", "[" * 5_000 + "]" * 5_000), 65, "JSON"),
        (("note", "--payload", "1" * 5_000), 65, "JSON"),
        (("note", "--payload", '"\\ud800"'), 65, "JSON"),
        (("note", "--payload", "[" * 100 + "]" * 100), 65, "nests deeper"),
        (("note", "--priority", "101"), 65, "priority"),
        (("note", "--priority", "1e9"), 64, "--priority"),
        (("note", "--priority", "9" * 30), 64, "--priority"),
        (("note", "--after", "-1"), 65, "delay"),
        (("note", "--after", "nan"), 64, "--after"),
        (("note", "--after", "inf"), 64, "--after"),
        (("note", "--after", "1e300"), 65, "delay"),
        (("note", "--work-id", ""), 65, "work id"),
        (("note", "--work-id", "x" * 501), 65, "work id"),
        (("note", "--from", "missing.jsonl"), 66, "missing.jsonl"),
        (("note", "--from", "."), 66, "cannot be read"),
        (("note", "--from", "missing.jsonl", "--payload", "1"), 64, "not allowed with"),
        (("note", "--from", "-", "--work-id", "x"), 64, "--work-id"),
    ],
)
def test_what_is_wrong_is_said_and_nothing_is_handed_in(box: Appliance, arguments: tuple[str, ...], code: int, says: str) -> None:
    """Each with its own exit code and a remedy."""
    before = count(box)
    refused(box, "submit", *arguments, code=code, says=says)
    assert count(box) == before


def test_a_payload_over_its_limit_is_refused(box: Appliance, tmp_path: Path) -> None:
    """One byte too many is; the last that is allowed is not.  The line of the file is named."""
    largest = json.dumps("x" * ((256 << 10) - 2))
    (tmp_path / "fits").write_text(largest + "\n")
    (tmp_path / "over").write_text("1\n" + largest.replace("x", "xx", 1) + "\n")
    assert box.command("submit", "note", "--from", str(tmp_path / "fits"), "--wait").returncode == 0
    refused(box, "submit", "note", "--from", str(tmp_path / "over"), code=65, says="line 2")


def test_a_name_that_is_not_utf8_is_shown_and_refused(box: Appliance) -> None:
    """What cannot be stored is no fault of ours."""
    argv = [*(os.fsencode(each) for each in box.argv), b"submit", b"note", b"--work-id", b"\xff\xfe"]
    done = subprocess.run(argv, cwd=box.folder, capture_output=True, env=box.environment(), check=False, timeout=30)
    assert done.returncode == 65
    assert b"work id" in done.stderr


def test_a_bad_line_loses_nothing_that_was_told_before(box: Appliance, tmp_path: Path) -> None:
    """Batches before it are there and were printed; after the line is mended, the same file hands in the rest, each once."""
    lines = [f'{{"mended": {number}}}' for number in range(2_500)]
    bad = tmp_path / "jobs.jsonl"
    bad.write_text("\n".join([*lines[:1_500], "{", *lines[1_501:]]) + "\n")
    before = count(box)
    done = refused(box, "submit", "note", "--from", str(bad), "--json", code=65, says="line 1501")
    told = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(told) == count(box) - before == 1_000
    assert "1000" in done.stderr, "how many were taken in is not said"
    bad.write_text("\n".join(lines) + "\n")
    told_then = box.json("submit", "note", "--from", str(bad))
    assert [each["new"] for each in told_then] == 1_000 * [False] + 1_500 * [True]
    assert count(box) - before == 2_500


@pytest.mark.parametrize("content", [b"1\n\xff\n", b"\xff\xfe1\x00\n\x00"])
def test_a_file_that_is_not_utf8_is_refused(box: Appliance, tmp_path: Path, content: bytes) -> None:
    """From a file and from a pipe."""
    (tmp_path / "bad").write_bytes(content)
    refused(box, "submit", "note", "--from", str(tmp_path / "bad"), code=66, says="is not UTF-8")
    command = box.begin("submit", "note", "--from", "-")
    _, errors = command.communicate(content, timeout=30)
    assert (command.returncode, b"is not UTF-8" in errors) == (66, True)


def test_blank_lines_are_no_jobs(box: Appliance, tmp_path: Path) -> None:
    """And an empty file is none: nothing to do is no error."""
    (tmp_path / "few").write_text('\n"few"\n\n')
    (tmp_path / "none").write_text("")
    assert len(box.json("submit", "note", "--from", str(tmp_path / "few"))) == 1
    assert box.command("submit", "note", "--from", str(tmp_path / "none"), "--wait").returncode == 0


def test_ctrl_c_during_the_wait_ends_the_wait_alone(box: Appliance) -> None:
    """Exit code 130; the job goes on to its end."""
    command = box.begin("submit", "polite", "--payload", '"waited for"', "--wait")
    assert command.stdout is not None
    id_ = int(command.stdout.readline().split()[1])
    box.stands(id_, "leased")
    command.send_signal(signal.SIGINT)
    _, errors = command.communicate(timeout=20)
    assert (command.returncode, b"Traceback" in errors) == (130, False)
    assert box.show(id_).state == "leased"
    box.command("jobs", "cancel", str(id_))
    assert box.ended(id_)[0].state == "cancelled"


def test_without_an_appliance_the_work_waits(nowhere: Appliance) -> None:
    """It is taken in, and the command says that nobody is there."""
    nowhere.start()
    nowhere.stop()
    done = nowhere.command("submit", "note")
    assert done.returncode == 0
    assert "no appliance runs" in done.stderr
    nowhere.start()
    assert nowhere.ended(1)[0].state == "done"
