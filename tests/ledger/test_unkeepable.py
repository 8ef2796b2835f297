"""Outcomes that the ledger cannot keep leave nothing in it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from appliance import errors, limits
from appliance.coordination.outcomes import Done, Follow, Outcome, Retry, Split
from appliance.coordination.work import Claimed
from tests.ledger.box import Box, everything


def bad_follow(claimed: Claimed) -> Outcome:
    """A follow-up of a kind that nobody declared."""
    return Done(claimed.lease.id, [Follow(kind="nobody")])


@pytest.mark.parametrize(
    "outcome",
    [
        bad_follow,
        lambda _: Done(object()),  # type: ignore[arg-type]
        lambda _: Done("x" * limits.RESULT_BYTES_MAX),
        lambda _: Done("\ud800"),
        lambda _: Done(1, [Follow(kind="noop", payload=float("nan"))]),
        lambda _: Done(1, [Follow(kind="noop", priority=1_000)]),
        lambda _: Done(1, [Follow(kind="noop", payload="x" * 200_000)] * 30),
        lambda _: Split(count=0, window=1),
        lambda _: Split(count=1, window=0),
        lambda _: Split(count=1 << 70, window=2),
        lambda _: Split(count=5, window=limits.WINDOW_MOST + 1),
        lambda _: Split(count=5, window=2, state=object()),  # type: ignore[arg-type]
        lambda _: Split(count=5, window=2, on_dead="whatever"),  # type: ignore[arg-type]
    ],
    ids=[
        "follow",
        "object",
        "large",
        "surrogate",
        "nan",
        "priority",
        "follows",
        "none",
        "window",
        "count",
        "wide",
        "state",
        "dead",
    ],
)
def test_an_outcome_that_cannot_be_kept_leaves_nothing_p13(box: Box, outcome: Callable[[Claimed], Outcome]) -> None:
    """It is refused by one of two errors, never by the engine's, and counts as a failure when it is handed in as one."""
    claimed = box.lease()
    before = everything(box)
    with pytest.raises((errors.PayloadError, errors.UnknownKindError)) as refused:
        box.hand_in(claimed, outcome(claimed))
    assert everything(box) == before
    assert box.hand_in(claimed, Retry(str(refused.value)))
    assert box.job(claimed.lease.id, "state, failures") == ("planned", 1)
