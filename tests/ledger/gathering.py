"""Split jobs for tests: gathered, their parts and folds claimed, in one line each."""

from __future__ import annotations

from typing import Any

from appliance.coordination import splits
from appliance.coordination.outcomes import Json, Split
from appliance.coordination.splits import Step
from appliance.coordination.work import Claimed, JobId
from tests.ledger.box import ANNA, Box


def gather(box: Box, count: int = 4, window: int = 2, **said: Any) -> JobId:  # noqa: ANN401 - the fields of a Split
    """A job that was split."""
    claimed = box.lease("film", payload="reel")
    assert box.hand_in(claimed, Split(count=count, window=window, **said))
    return claimed.lease.id


def part(box: Box, ordinal: int, holder: Any = ANNA) -> Claimed:  # noqa: ANN401 - a Holder
    """Claim what there is; the part of that number."""
    return next(each for each in box.claim(holder) if each.lease.ordinal == ordinal)


def parts(box: Box) -> dict[int, Claimed]:
    """All parts that can be claimed now, by number."""
    return {each.lease.ordinal: each for each in box.claim() if each.lease.ordinal is not None}


def fold(box: Box) -> Claimed:
    """The fold that can be claimed now."""
    (claimed,) = [each for each in box.claim(most=1) if each.folding]
    return claimed


def fold_all(box: Box, claimed: Claimed, end: object = None) -> bool:
    """Take every part that has an answer."""
    assert claimed.folding
    folded = claimed.folding.folded + len(claimed.folding.answers)
    carried = [*_list(claimed.folding.carried), *[answer.ordinal for answer in claimed.folding.answers]]
    return box.hand_in(claimed, Step(folded=folded, carried=carried, output_bytes=folded, end=end))


def _list(value: Json) -> list[Json]:
    return list(value) if isinstance(value, list) else []


def placed(box: Box) -> list[int]:
    """The numbers of the parts that have a row."""
    return [ordinal for (ordinal,) in box.ledger.read("SELECT ordinal FROM part ORDER BY ordinal")]


def progress(box: Box, id_: JobId) -> tuple[int, int, int]:
    """Parts, folded, done."""
    return box.ledger.read(splits.SQL["progress"], {"id": id_})[0]
