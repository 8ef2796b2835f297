"""Outcomes survive the pipe; what a hostile hand makes up does not."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from appliance import limits
from appliance.coordination.outcomes import Done, Folded, Follow, Json, Redo, Reject, Retry, Snooze, Split, Unclear
from appliance.errors import PayloadError
from appliance.runtime.hands import codec, requests
from appliance.runtime.hands.codec import AnyOutcome, OutOfMemory, Progress, Ready
from appliance.runtime.hands.frames import Frame, FrameGarbledError
from tests.crash.calling import call

VALUES: st.SearchStrategy[Json] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), inner, max_size=3)
    ),
    max_leaves=10,
)
NAMES = st.from_regex(r"\A[A-Za-z0-9_-][A-Za-z0-9._-]{0,20}\Z")
FILES = st.dictionaries(NAMES, st.binary(max_size=50), max_size=3)
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=50)
MS = st.integers(0, codec.MS_MOST)
FOLLOWS = st.builds(Follow, kind=st.sampled_from(["a", "media.qc_2"]), payload=VALUES, priority=st.integers(-100, 100), after_ms=MS)
OUTCOMES: st.SearchStrategy[AnyOutcome] = st.one_of(
    st.builds(Done, VALUES, st.lists(FOLLOWS, max_size=2), FILES),
    st.builds(Retry, TEXTS, st.none() | MS, TEXTS),
    st.builds(Snooze, MS, TEXTS),
    st.builds(Reject, TEXTS),
    st.builds(Unclear, TEXTS),
    st.builds(
        Split,
        count=st.integers(1, 100),
        window=st.integers(1, 9),
        state=VALUES,
        files=FILES,
        on_dead=st.sampled_from(["bury", "fold"]),
    ),
    st.builds(Folded, VALUES, st.binary(max_size=50)),
    st.builds(Redo, st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), VALUES, max_size=3)),
)


def back(frame: Frame) -> AnyOutcome:
    """What the worker makes of a frame."""
    data = codec.decode(frame)
    assert not isinstance(data, Progress | Ready | OutOfMemory)
    return codec.outcome(data, frame.attachments)


@given(OUTCOMES)
def test_an_outcome_comes_back_as_it_went(outcome: AnyOutcome) -> None:
    """Every kind of outcome, with its files, follow-ups and any JSON."""
    assert back(codec.encode(outcome)) == outcome


def frame(header: Mapping[str, object], *files: bytes) -> Frame:
    """A frame that a hostile hand makes up."""
    return Frame(json.dumps(header).encode(), files)


def done(**changes: object) -> dict[str, object]:
    """A header of a ``Done``, changed."""
    return {"is": "done", "result": None, "then": [], "files": []} | changes


FOLLOW = {"kind": "a", "payload": None, "priority": 0, "after_ms": 0}


@pytest.mark.parametrize(
    "hostile",
    [
        frame({}),
        frame({"is": "system"}),
        frame(done(surprise=1)),
        frame(done(files=["a"])),
        frame(done(), b"x"),
        frame(done(files=["a", "a"]), b"x", b"y"),
        frame(done(then=[FOLLOW | {"kind": "../x"}])),
        frame(done(then=[FOLLOW | {"priority": 101}])),
        frame(done(then=[FOLLOW | {"after_ms": -1}])),
        frame(done(then=[FOLLOW] * (limits.FOLLOWS_MOST + 1))),
        frame(done(result="x" * (limits.RESULT_BYTES_MAX + 1))),
        frame({"is": "split", "count": 0, "window": 1, "state": None, "files": [], "on_dead": "bury"}),
        frame({"is": "split", "count": 1, "window": 1, "state": None, "files": [], "on_dead": "explode"}),
        frame({"is": "snooze", "after_ms": 1 << 70, "why": ""}),
        frame({"is": "snooze", "after_ms": 1.5, "why": ""}),
        frame({"is": "reject", "what": "x" * (limits.TEXT_CHARS_MAX + 1)}),
        frame({"is": "redo", "params": []}),
        frame({"is": "folded", "state": None}),
        frame({"is": "progress", "done": -1, "total": 1}),
        Frame(b"\xff\xfe"),
        Frame(b'{"is":"done","result":' + b"[" * 100 + b"]" * 100 + b',"then":[],"files":[]}'),
        Frame(b'{"is":"done","result":' + b"[" * 1_000_000),
        Frame(b'{"is":"done","result":NaN,"then":[],"files":[]}'),
        Frame(b'{"is":"reject","what":"\\ud800"}'),
    ],
    ids=range(24),
)
def test_what_a_hostile_hand_makes_up_is_refused(hostile: Frame) -> None:
    """Types, bounds, depth and names are looked at before anything is used."""
    with pytest.raises(FrameGarbledError):
        back(hostile)


@pytest.mark.parametrize("name", ["", ".", "..", ".hidden", "a/b", "../a", "a\x00", "a\n", "ä", "x" * 101])
def test_a_name_that_is_not_plain_is_refused(name: str) -> None:
    """A file of an outcome is written under this name."""
    with pytest.raises(FrameGarbledError):
        back(frame(done(files=[name]), b"x"))


def test_a_result_that_is_no_json_is_refused_where_it_is_made() -> None:
    """The handler's author reads of it, not the worker."""
    for value in (object(), float("nan"), "\ud800", "x" * (limits.RESULT_BYTES_MAX + 1)):
        with pytest.raises(PayloadError):
            codec.encode(Done(value))  # type: ignore[arg-type]


def test_a_text_is_cut_and_made_writable() -> None:
    """Whatever an exception said."""
    outcome = back(codec.encode(Reject("\ud800" + "x" * 10_000)))
    assert outcome == Reject("?" + "x" * (limits.TEXT_CHARS_MAX - 1))


@given(VALUES)
def test_a_call_comes_back_as_it_went(payload: Json) -> None:
    """But for its context's callables, which cannot cross a pipe."""
    sent = call("good.answer", Path("/scratch"), payload, function="part", ordinal=4)
    got = requests.decode(requests.encode(sent), lambda _done, _total: None)
    assert (got.function, got.kind, got.payload, got.state) == (sent.function, sent.kind, sent.payload, sent.state)
    assert (got.context.job_id, got.context.attempt, got.context.ordinal, got.context.params) == (1, 3, 4, {"run_in": 2})
