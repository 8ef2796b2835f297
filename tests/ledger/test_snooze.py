"""Not yet: how soon a job may say so again, and for how long."""

from __future__ import annotations

from appliance import limits
from appliance.coordination import history, queue
from appliance.coordination.outcomes import Snooze
from tests.ledger.box import Box


def test_not_yet_is_no_way_to_be_asked_at_full_speed(box: Box) -> None:
    """A handler that snoozes for no time at all is asked again in a while."""
    claimed = box.lease()
    assert box.hand_in(claimed, Snooze(0))
    assert box.claim() == []
    box.dial.pass_ms(limits.SNOOZE_MS_MIN)
    with box.ledger.write() as tx:
        queue.ripen(tx)
    assert [again.lease.id for again in box.claim()] == [claimed.lease.id]


def test_p6_a_job_that_is_not_yet_ready_for_months_becomes_a_question(box: Box) -> None:
    """Whoever snoozes for ever would never be seen."""
    claimed = box.lease()
    box.dial.pass_ms(limits.SNOOZED_MS_MAX)
    assert box.hand_in(claimed, Snooze(5_000, "the line is down"))
    shown = history.show(box.ledger, claimed.lease.id)
    assert shown.state == "unclear"
    assert "the line is down" in str(shown.error_text)
