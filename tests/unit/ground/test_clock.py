"""Three kinds of time that cannot be compared with each other."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from appliance.clock import SYSTEM, BootInstant, Clock, LedgerInstant, WallInstant
from appliance.store.life import OFF_MS_MAX, TRUSTED_WALL_MS, offset_after_boot

KINDS = (BootInstant, LedgerInstant, WallInstant)
PAIRS = [(one, other) for one in KINDS for other in KINDS if one is not other]
COMPARISONS = (operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne)
Kind = type[BootInstant] | type[LedgerInstant] | type[WallInstant]
TIMES = st.integers(min_value=0, max_value=1 << 50)


@pytest.mark.parametrize("compare", COMPARISONS, ids=lambda compare: compare.__name__)
@pytest.mark.parametrize(("one", "other"), PAIRS)
def test_instants_of_two_kinds_refuse_comparison(one: Kind, other: Kind, compare: Callable[[Any, Any], bool]) -> None:
    """Also for equality: a lease that ends by the wrong clock is a bug, not a False."""
    with pytest.raises(TypeError, match="cannot be compared"):
        compare(one(5), other(5))


@pytest.mark.parametrize("compare", COMPARISONS, ids=lambda compare: compare.__name__)
@pytest.mark.parametrize("kind", KINDS)
def test_an_instant_refuses_comparison_with_a_number(kind: Kind, compare: Callable[[Any, Any], bool]) -> None:
    """A bare number has forgotten which clock it came from."""
    with pytest.raises(TypeError, match="cannot be compared"):
        compare(kind(5), 5)


@pytest.mark.parametrize(("one", "other"), PAIRS)
def test_instants_of_two_kinds_have_no_difference(one: Any, other: Any) -> None:  # noqa: ANN401 - the wrong type is the point
    """No duration lies between two clocks."""
    with pytest.raises(TypeError, match="cannot be compared"):
        _ = one(5) - other(3)


@pytest.mark.parametrize("kind", KINDS)
def test_instants_of_one_kind_have_order_and_difference(kind: Any) -> None:  # noqa: ANN401 - mypy would compare the kinds' mixtures
    """Milliseconds are added to an instant and lie between two."""
    early, late = kind(5), kind(7)
    assert early < late
    assert late > early
    assert early <= kind(5) <= late
    assert late >= early
    assert (late - early, early + 2, late - 2) == (2, late, early)
    assert {early, kind(5), late} == {late, early}


def test_a_clock_shows_ledger_time_by_its_offset() -> None:
    """And leaves the other two as they are."""
    clock = Clock(boot_ms=lambda: 100, wall_ms=lambda: 9_000).with_offset(5_000)
    assert (clock.boot(), clock.wall(), clock.ledger()) == (BootInstant(100), WallInstant(9_000), LedgerInstant(5_100))


def test_the_system_clock_does_not_go_back_between_two_looks() -> None:
    """Boot time is the kernel's, and the ledger's follows it."""
    assert SYSTEM.boot() <= SYSTEM.boot()
    assert SYSTEM.ledger() <= SYSTEM.ledger()


@given(last=TIMES, last_wall=TIMES, boot=TIMES, wall=TIMES)
def test_ledger_time_never_goes_back_over_a_boot_p11(last: int, last_wall: int, boot: int, wall: int) -> None:
    """Whatever both wall clocks said: the first instant of the new boot is not before the last of the old."""
    offset = offset_after_boot(last_ledger_ms=last, last_wall_ms=last_wall, boot_ms=boot, wall_ms=wall)
    assert last <= boot + offset <= last + OFF_MS_MAX


@given(last=TIMES, off=st.integers(min_value=0, max_value=OFF_MS_MAX), boot=TIMES)
def test_the_time_off_counts_when_both_clocks_are_trusted_p11(last: int, off: int, boot: int) -> None:
    """What was to wait an hour is due after a night without power."""
    offset = offset_after_boot(last_ledger_ms=last, last_wall_ms=TRUSTED_WALL_MS, boot_ms=boot, wall_ms=TRUSTED_WALL_MS + off)
    assert boot + offset == last + off


@pytest.mark.parametrize(
    ("last_wall", "wall"),
    [
        (0, TRUSTED_WALL_MS),
        (TRUSTED_WALL_MS, 0),
        (TRUSTED_WALL_MS - 1, TRUSTED_WALL_MS + 5),
        (TRUSTED_WALL_MS + 5, TRUSTED_WALL_MS),
        (TRUSTED_WALL_MS, TRUSTED_WALL_MS + OFF_MS_MAX + 1),
    ],
)
def test_the_time_off_does_not_count_when_a_clock_is_not_trusted_p11(last_wall: int, wall: int) -> None:
    """1970, a step back, a jump of decades: ledger time just goes on."""
    assert offset_after_boot(last_ledger_ms=77, last_wall_ms=last_wall, boot_ms=7, wall_ms=wall) == 70
