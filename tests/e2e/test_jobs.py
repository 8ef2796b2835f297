"""``appliance jobs``: looking at work, and deciding about it."""

from __future__ import annotations

import subprocess

import pytest

from tests.crash.appliance_stage import Appliance
from tests.e2e.manners import plain, refused

pytestmark = pytest.mark.crash


def test_a_list_shows_the_newest_first(box: Appliance) -> None:
    """Under heads and by tabs in a pipe; by lines of JSON for a program."""
    ids = box.submit("note", list(range(5)))
    box.ended(*ids)
    done = box.command("jobs", "list", "--most", "3")
    assert done.returncode == 0
    heads, *rows = [line.split("\t") for line in done.stdout.splitlines()]
    assert heads[:4] == ["id", "kind", "state", "attempt"]
    assert [row[:4] for row in rows] == [[str(id_), "note", "done", "1"] for id_ in reversed(ids[2:])]
    assert plain(done.stdout)
    listed = box.json("jobs", "list", "--most", "3")
    assert [each["id"] for each in listed] == list(reversed(ids[2:]))
    assert set(listed[0]) == {"id", "kind", "work_id", "state", "attempt", "failures", "submitted", "moved", "error_text"}


def test_a_list_of_one_state_holds_no_other(box: Appliance) -> None:
    """What a person looks for after a bad night."""
    box.ended(*box.submit("say", ["reject", "plain"]))
    assert {each["state"] for each in box.json("jobs", "list", "--state", "rejected")} == {"rejected"}


def test_a_job_is_shown_with_payload_result_and_history(box: Appliance) -> None:
    """As lines for people and as one object for programs; each move is an event."""
    (id_,) = box.submit("note", [{"shown": "\x1b[31mred\x1b[0m ✓"}])
    box.ended(id_)
    (shown,) = box.json("jobs", "show", str(id_))
    assert (shown["payload"], shown["state"], shown["result"]) == ({"shown": "\x1b[31mred\x1b[0m ✓"}, "done", {"attempt": 1})
    people = box.command("jobs", "show", str(id_))
    assert plain(people.stdout), "a payload commands the terminal"
    assert [each["move"] for each in box.json("jobs", "history", str(id_))] == ["submit", "claim", "finish"]
    assert box.command("jobs", "history", str(id_)).returncode == 0


def test_a_dead_job_can_be_tried_again(box: Appliance) -> None:
    """Its failures are given back; one that is done cannot."""
    dead, done = box.submit("say", ["raise", "plain"])
    box.ended(dead, done)
    assert "ready" in box.command("jobs", "retry", str(dead), "--why", "as a test").stdout
    assert box.ended(dead)[0].attempt == 2
    refused(box, "jobs", "retry", str(done), code=65, says="is done")


@pytest.mark.parametrize("verb", ["show", "history", "cancel", "retry"])
@pytest.mark.parametrize(("id_", "code"), [("999999", 65), ("0", 65), ("-1", 65), ("9" * 30, 64), ("x", 64), ("1.5", 64), ("", 64)])
def test_a_job_that_is_not_there_is_said(box: Appliance, verb: str, id_: str, code: int) -> None:
    """Whatever stands in the place of its number."""
    refused(box, "jobs", verb, id_, code=code, says="no job" if code == 65 else "ID")


@pytest.mark.parametrize("most", ["0", "-5", "x", "9" * 30])
def test_a_list_of_a_strange_length_is_no_fault(box: Appliance, most: str) -> None:
    """It is refused in words, or bounded."""
    done = box.command("jobs", "list", "--most", most)
    assert done.returncode in (0, 64)
    assert "Traceback" not in done.stderr
    assert "fault of ours" not in done.stderr


@pytest.mark.parametrize("arguments", ["jobs list", "jobs list --json", "jobs history {id}", "jobs show {id}", "--help", "status"])
def test_a_reader_that_goes_away_leaves_no_trace(box: Appliance, arguments: str) -> None:
    """``| head`` and a reader that reads nothing at all."""
    ids = box.submit("note", list(range(300)))
    box.ended(*ids)
    for reader in ("head -n 1", "true"):
        shell = f"{' '.join(box.argv)} {arguments.format(id=ids[0])} | {reader}"
        argv = ["sh", "-c", shell]
        done = subprocess.run(argv, cwd=box.folder, capture_output=True, env=box.environment(), timeout=30, check=False)
        assert done.stderr == b""
