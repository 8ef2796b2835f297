"""Figures and baselines: what reaches its bar, and what counts as moved."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.bench import baseline
from tests.bench.baseline import Run
from tests.bench.figures import Figure, figure, line, middle, percentile


def spread(value: float, by: float, name: str = "rate") -> Figure:
    """A figure whose middle half lies so far around its value."""
    return Figure(name=name, value=value, low=value - by, high=value + by)


@pytest.mark.parametrize(
    ("least", "most", "verdict"), [(None, None, ""), (2, None, "ok"), (2.1, None, "short"), (None, 2, "ok"), (None, 1.9, "short")]
)
def test_a_figure_reaches_its_bar_or_falls_short(least: float | None, most: float | None, verdict: str) -> None:
    """By its median, on either side; one without a bar is only printed."""
    made = figure("rate", [1, 2, 9], least=least, most=most)
    assert made.verdict == verdict
    assert line(made).startswith(verdict or "-")


def test_half_of_the_samples_lie_in_the_middle() -> None:
    """A single one is its own middle."""
    assert middle([1, 2, 3, 4, 5]) == (2, 4)
    assert middle([7]) == (7, 7)


def test_a_percentile_is_a_sample() -> None:
    """And the share of one is the largest."""
    assert percentile(range(100), 0.99) == 99
    assert percentile([3, 1, 2], 1.0) == 3


@pytest.mark.parametrize(
    ("before", "now", "told"),
    [
        (spread(2, 0.1), spread(3, 0.1), "rate: 2 before, 3 now (+50 %)"),
        (spread(2, 0.1), spread(1, 0.1), "rate: 2 before, 1 now (-50 %)"),
        (spread(2, 0.6), spread(3, 0.6), None),
        (spread(2, 0.01), spread(2.1, 0.01), None),
        (spread(2, 0, "gone"), spread(2, 0), "rate: new"),
    ],
)
def test_only_what_moved_by_more_than_the_noise_is_told(before: Figure, now: Figure, told: str | None) -> None:
    """Spreads that meet, and medians close to each other, are noise."""
    assert list(baseline.moved(Run(machine="this", figures=[before]), [now])) == ([] if told is None else [told])


def test_a_run_is_read_as_it_was_stored(tmp_path: Path) -> None:
    """With the note of its machine; where there is none there is nothing to compare."""
    path = tmp_path / "core.json"
    assert baseline.load(path) is None
    baseline.store(path, [spread(2, 0.5)])
    assert baseline.load(path) == Run(machine=baseline.machine(), figures=[spread(2, 0.5)])
