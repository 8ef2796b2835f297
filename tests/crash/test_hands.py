"""A hand answers, or dies with a cause; it never holds up its worker, and nothing that it says is believed."""

from __future__ import annotations

import os
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from appliance.coordination.outcomes import Done, Folded, Output, Part, Reject, Retry, Split
from appliance.runtime.hands.hands import Answer, Died, Hand, Watch
from appliance.runtime.supervision.causes import Cause
from tests.crash import calling
from tests.crash.calling import call
from tests.crash.facts import gone, until

pytestmark = pytest.mark.crash

ROOT = Path(__file__).parents[2]
PATIENT = Watch(limit_ms=30_000)
Make = Callable[..., Hand]


@pytest.fixture
def make(monkeypatch: pytest.MonkeyPatch) -> Iterator[Make]:
    """Makes hands, and ends them."""
    monkeypatch.syspath_prepend(str(ROOT))
    made: list[Hand] = []

    def one(*modules: str, cpu_ms: int = 0, resident_bytes_max: int = 512 << 20) -> Hand:
        made.append(calling.hand(*modules, cpu_ms=cpu_ms, resident_bytes_max=resident_bytes_max))
        return made[-1]

    yield one
    for each in made:
        each.close()


def outcome(got: Answer | Died) -> object:
    """The outcome of an answer."""
    assert isinstance(got, Answer), got
    return got.outcome


def died(got: Answer | Died) -> Died:
    """A death."""
    assert isinstance(got, Died), got
    return got


def test_a_hand_answers_with_the_outcome_its_files_and_its_progress(make: Make, tmp_path: Path) -> None:
    """What the handler prints is not taken for an answer."""
    progress: list[tuple[int, int]] = []
    watch = Watch(limit_ms=30_000, progress=lambda done, total: progress.append((done, total)))
    got = outcome(make().perform(call("good.answer", tmp_path, {"a": ["ä", 1.5, None]}), watch))
    assert isinstance(got, Done)
    assert isinstance(got.result, dict)
    assert got.result["payload"] == {"a": ["ä", 1.5, None]}
    assert got.result["attempt"] == 3
    assert got.files == {"a.txt": b"x" * 100_000}
    assert [follow.kind for follow in got.then] == ["good.answer"]
    assert progress[-1] == (2, 2)


def test_all_four_functions_of_a_split_are_carried_out(make: Make, tmp_path: Path) -> None:
    """Work, part, fold, conclude, each with what belongs to it."""
    hand = make()
    split = outcome(hand.perform(call("good.split", tmp_path), PATIENT))
    assert split == Split(count=7, window=3, state=[], files={"shared": b"s"})
    part = outcome(hand.perform(call("good.split", tmp_path, function="part", ordinal=4), PATIENT))
    assert part == Done({"ordinal": 4, "params": {"run_in": 2}}, [])
    subject = Part(ordinal=4, result="r", files={"f": tmp_path / "name"})
    folded = outcome(hand.perform(call("good.split", tmp_path, function="fold", state=[1], subject=subject), PATIENT))
    assert folded == Folded([1, 4, "r", "name"], b"folded")
    output = Output(path=tmp_path / "output", size_bytes=9, sha256="0")
    end = outcome(hand.perform(call("good.split", tmp_path, function="conclude", state=[1], subject=output), PATIENT))
    assert end == Done([[1], "output", 9], [])


def test_a_hand_is_used_again_while_it_behaves(make: Make, tmp_path: Path) -> None:
    """Also after its handler raised: an exception is an answer."""
    hand = make()
    first = outcome(hand.perform(call("good.answer", tmp_path), PATIENT))
    raised = outcome(hand.perform(call("bad.raise", tmp_path), PATIENT))
    second = outcome(hand.perform(call("good.answer", tmp_path), PATIENT))
    assert isinstance(raised, Retry)
    assert raised.error_class == "raised.ValueError"
    assert "as planned" in raised.why
    assert isinstance(first, Done)
    assert isinstance(second, Done)
    assert first.result == second.result


def test_a_hand_sees_only_what_it_was_given_and_is_locked_in(make: Make, tmp_path: Path) -> None:
    """No environment of the worker, no descriptor of it, no database engine, bounds that cannot be raised."""
    got = outcome(make().perform(call("good.facts", tmp_path), PATIENT))
    assert isinstance(got, Done)
    assert isinstance(got.result, dict)
    assert set(got.result["environment"]) <= {"LANG", "LC_CTYPE"}
    assert got.result | {"environment": 0, "engine": 0, "program": 0} == {
        "environment": 0,
        "no_new_privileges": "1",
        "core": 0,
        "memory": 1 << 30,
        "group": True,
        "descriptors": 6,
        "engine": 0,
        "program": 0,
    }


@pytest.mark.parametrize(
    ("kind", "error_class"),
    [
        ("bad.raise", "raised.ValueError"),
        ("bad.result", "outcome.PayloadError"),
        ("bad.file", "raised.OSError"),
        ("unknown", "raised.KeyError"),
    ],
)
def test_what_a_handler_raises_is_an_answer(make: Make, tmp_path: Path, kind: str, error_class: str) -> None:
    """The bulkhead in the hand turns it into a retry."""
    got = outcome(make().perform(call(kind, tmp_path), PATIENT))
    assert isinstance(got, Retry)
    assert got.error_class == error_class


@pytest.mark.parametrize(
    ("kind", "cause", "code"),
    [
        ("bad.memory", Cause.MEMORY, -9),
        ("bad.cpu", Cause.TIME_LIMIT, -24),
        ("bad.crash", Cause.SIGNAL, -11),
        ("bad.exit", Cause.EXITED, 0),
    ],
)
def test_a_hand_that_dies_has_a_cause_and_a_successor(make: Make, tmp_path: Path, kind: str, cause: Cause, code: int) -> None:
    """Memory, CPU, a crash in foreign code, an exit: each by its name, and the next call finds a new hand."""
    hand = make(cpu_ms=1_000)
    got = died(hand.perform(call(kind, tmp_path), PATIENT))
    assert (got.cause, got.code) == (cause, code)
    assert isinstance(outcome(hand.perform(call("good.answer", tmp_path), PATIENT)), Done)


def test_a_crash_tells_where_it_was(make: Make, tmp_path: Path) -> None:
    """The stack of the hand is the only trace of a decoder's crash."""
    got = died(make().perform(call("bad.crash", tmp_path), PATIENT))
    assert "Segmentation fault" in got.text
    assert "in crash" in got.text


def test_a_hand_that_falls_silent_after_progress_hangs_and_is_ended(make: Make, tmp_path: Path) -> None:
    """A long film needs a long limit; a decoder that waits for itself is noticed long before it."""
    told: list[tuple[int, int]] = []
    watch = Watch(limit_ms=60_000, stall_ms=500, progress=lambda done, total: told.append((done, total)))
    got = make().perform(call("bad.stall", tmp_path), watch)
    assert isinstance(got, Died)
    assert (got.cause, told[0]) == (Cause.HUNG, (0, 10))


def test_a_hand_is_killed_at_the_time_limit_after_it_was_made_to_show_its_stack(make: Make, tmp_path: Path) -> None:
    """Late at half of the limit, over it dead."""
    hand = make()
    assert hand.start(PATIENT) is None
    began = time.monotonic()
    got = died(hand.perform(call("bad.sleep", tmp_path), Watch(limit_ms=600)))
    assert got.cause is Cause.TIME_LIMIT
    assert 0.6 <= time.monotonic() - began < 5
    assert "in sleep" in got.text


@pytest.mark.parametrize("lie", ["noise", "size", "header", "json", "type", "ready", "flood"])
def test_a_hand_that_answers_nonsense_is_ended(make: Make, tmp_path: Path, lie: str) -> None:
    """Its frames are not believed, and nothing is allocated for what it only announces."""
    assert died(make().perform(call("bad.frames", tmp_path, lie), PATIENT)).cause is Cause.GARBLED


def test_an_answer_given_in_advance_is_not_taken_for_the_next_job(make: Make, tmp_path: Path) -> None:
    """A hand that spoke out of turn is replaced before it is asked again."""
    hand = make()
    assert outcome(hand.perform(call("bad.early", tmp_path), PATIENT)) == Reject("forged")
    assert isinstance(outcome(hand.perform(call("good.answer", tmp_path), PATIENT)), Done)


def test_a_hand_that_never_stops_printing_is_ended(make: Make, tmp_path: Path) -> None:
    """Nothing of it reaches the log, and only its end is kept."""
    got = died(make().perform(call("bad.print", tmp_path), PATIENT))
    assert got.cause is Cause.GARBLED
    assert len(got.text) <= 4_000


def test_a_hand_that_closes_its_pipes_and_lives_on_is_ended(make: Make, tmp_path: Path) -> None:
    """It has a moment to end by itself, and no more."""
    assert died(make().perform(call("bad.closed", tmp_path), PATIENT)).cause is Cause.GARBLED


def test_what_a_hand_started_ends_with_it(make: Make, tmp_path: Path) -> None:
    """Its whole group is killed while its zombie still holds the number."""
    got = died(make().perform(call("bad.mother", tmp_path, str(tmp_path / "child")), PATIENT))
    assert got.cause is Cause.EXITED
    until(lambda: gone(int((tmp_path / "child").read_text())), seconds=2, what="end of the hand's child")


@pytest.mark.parametrize("grace_ms", [0, 300])
def test_a_stop_ends_a_call_after_its_grace(make: Make, tmp_path: Path, grace_ms: int) -> None:
    """The worker's own wake-up interrupts the wait."""
    hand = make()
    assert hand.start(PATIENT) is None
    reader, writer = os.pipe()
    os.write(writer, b"x")
    began = time.monotonic()
    got = died(hand.perform(call("bad.sleep", tmp_path), Watch(limit_ms=30_000, wake=[reader], grace_ms=grace_ms)))
    assert got.cause is Cause.ASKED
    assert grace_ms / 1000 <= time.monotonic() - began < grace_ms / 1000 + 5
    os.close(reader)
    os.close(writer)


def test_a_cancelled_call_is_ended_within_a_moment(make: Make, tmp_path: Path) -> None:
    """Also when nothing wakes the worker."""
    got = died(make().perform(call("bad.sleep", tmp_path), Watch(limit_ms=30_000, cancelled=lambda: True)))
    assert got.cause is Cause.ASKED


def test_a_module_that_does_not_import_is_a_death_that_says_so(make: Make, tmp_path: Path) -> None:
    """The finding reaches the worker with the exit code of its class."""
    got = died(make("tests.crash.nowhere").perform(call("good.answer", tmp_path), PATIENT))
    assert (got.cause, got.code) == (Cause.EXITED, 78)
    assert "does not import" in got.text


def test_a_hand_that_grew_too_large_is_replaced_after_its_answer(make: Make, tmp_path: Path) -> None:
    """Memory creeps; a new process is cheaper than finding out why."""
    hand = make(resident_bytes_max=80 << 20)
    first = outcome(hand.perform(call("bad.grow", tmp_path), PATIENT))
    assert isinstance(first, Done)
    assert hand.process is None
    assert gone(int(str(first.result)))


def test_a_call_larger_than_the_pipe_passes_whole(make: Make, tmp_path: Path) -> None:
    """Neither side waits for the other to read first."""
    payload = ["x" * 60_000] * 4
    assert outcome(make().perform(call("good.plain", tmp_path, list(payload)), PATIENT)) == Done(payload, [])


def test_a_hand_works_from_the_single_file(tmp_path: Path) -> None:
    """It imports from where its worker does, be that a folder or an archive."""
    archive = tmp_path / "appliance.pyz"
    with zipfile.ZipFile(archive, "w") as file:
        for path in sorted((ROOT / "appliance").rglob("*")):
            if path.suffix in (".py", ".sql"):
                file.write(path, path.relative_to(ROOT))
    program = f"""
import sys
sys.path[:0] = [{str(archive)!r}, {str(ROOT)!r}]
from pathlib import Path
from appliance.runtime.hands.hands import Watch
from tests.crash import calling
hand = calling.hand()
print(hand.perform(calling.call("good.facts", Path({str(tmp_path)!r})), Watch(limit_ms=60_000)).outcome.result["program"])
hand.close()
"""
    done = subprocess.run([sys.executable, "-c", program], cwd="/", capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.strip() == str(archive / "appliance" / "__init__.py")


def test_a_hand_that_was_killed_between_two_calls_is_replaced(make: Make, tmp_path: Path) -> None:
    """No call is lost on a dead hand."""
    hand = make()
    assert hand.start(PATIENT) is None
    assert hand.process is not None
    os.kill(hand.process.pid, 9)
    os.waitid(os.P_PID, hand.process.pid, os.WEXITED | os.WNOWAIT)
    assert isinstance(outcome(hand.perform(call("good.answer", tmp_path), PATIENT)), Done)
