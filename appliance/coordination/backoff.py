"""When a job that did not succeed is tried again.  Pure: the caller brings the chance."""

from __future__ import annotations

from appliance import limits


def delay_ms(failures: int, base_ms: int, chance: float) -> int:
    """The wait before the next attempt after ``failures`` earlier ones: doubling, bounded, with half of it left to ``chance``.

    ``chance`` is in [0, 1): jobs that ended together do not come back together.
    """
    whole = min(base_ms << min(failures, 40), limits.BACKOFF_MS_MAX)
    return whole // 2 + int(whole / 2 * chance)


def delay_after_death_ms(failures: int, base_ms: int, chance: float) -> int:
    """The first death costs no wait: the cause is as likely the process as the job.  Later ones back off."""
    return 0 if failures == 0 else delay_ms(failures, base_ms, chance)
