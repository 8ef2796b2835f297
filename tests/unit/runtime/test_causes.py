"""The cause of a death follows from its code and the facts."""

from __future__ import annotations

import pytest

from appliance.runtime.supervision.causes import Cause, Facts, cause


@pytest.mark.parametrize(
    ("code", "facts", "expected"),
    [
        (0, Facts(), Cause.EXITED),
        (70, Facts(), Cause.EXITED),
        (74, Facts(), Cause.STORAGE),
        (71, Facts(), Cause.ROOM),
        (74, Facts(killed_for=Cause.ASKED), Cause.ASKED),
        (0, Facts(killed_for=Cause.ASKED), Cause.ASKED),
        (-15, Facts(), Cause.SIGNAL),
        (-15, Facts(killed_for=Cause.ASKED), Cause.ASKED),
        (-9, Facts(), Cause.SIGNAL),
        (-9, Facts(oom_kills=1), Cause.MEMORY),
        (-9, Facts(killed_for=Cause.TIME_LIMIT), Cause.TIME_LIMIT),
        (-9, Facts(killed_for=Cause.HUNG, oom_kills=1), Cause.HUNG),
        (-11, Facts(), Cause.SIGNAL),
        (-11, Facts(killed_for=Cause.ASKED), Cause.SIGNAL),
        (-24, Facts(), Cause.TIME_LIMIT),
    ],
)
def test_a_code_and_its_facts_have_one_cause(code: int, facts: Facts, expected: Cause) -> None:
    """What we did comes first; a crash while stopping is still a crash."""
    assert cause(code, facts) is expected
