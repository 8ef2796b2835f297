"""The wait before another attempt: doubling, bounded, spread by chance."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from appliance import limits
from appliance.coordination import backoff

FAILURES = st.integers(min_value=0, max_value=1 << 20)
BASES = st.integers(min_value=0, max_value=1 << 40)
CHANCES = st.floats(min_value=0, max_value=1, exclude_max=True)


@given(failures=FAILURES, base=BASES, chance=CHANCES)
def test_a_wait_is_never_negative_and_never_over_its_bound(failures: int, base: int, chance: float) -> None:
    """However often a job came back, and however long its kind says to wait."""
    assert 0 <= backoff.delay_ms(failures, base, chance) <= limits.BACKOFF_MS_MAX


@given(failures=FAILURES, base=BASES)
def test_chance_moves_a_wait_by_no_more_than_half(failures: int, base: int) -> None:
    """Jobs that ended together spread, and none comes back at once."""
    least, most = backoff.delay_ms(failures, base, 0), backoff.delay_ms(failures, base, 0.999)
    assert least <= most <= 2 * least + 1


@given(failures=st.integers(min_value=0, max_value=30), base=BASES, chance=CHANCES)
def test_a_wait_does_not_shrink_with_more_failures(failures: int, base: int, chance: float) -> None:
    """Each wait is twice the one before, up to the bound."""
    assert backoff.delay_ms(failures, base, chance) <= backoff.delay_ms(failures + 1, base, chance)


@given(base=BASES, chance=CHANCES)
def test_the_first_death_costs_no_wait_p5(base: int, chance: float) -> None:
    """The cause is as likely the process as the job."""
    assert backoff.delay_after_death_ms(0, base, chance) == 0


@given(failures=st.integers(min_value=1, max_value=60), base=BASES, chance=CHANCES)
def test_later_deaths_back_off(failures: int, base: int, chance: float) -> None:
    """As any other failure does."""
    assert backoff.delay_after_death_ms(failures, base, chance) == backoff.delay_ms(failures, base, chance)
