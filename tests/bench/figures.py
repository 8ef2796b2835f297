"""A figure: a ratio with its spread, and the bar that it has to reach."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median, quantiles


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A ratio: its median over the rounds of one run, and the middle half of them.

    ``least`` and ``most`` are its bars; a figure without one is only printed.  ``note`` holds what it was made of.
    """

    name: str
    value: float
    low: float
    high: float
    least: float | None = None
    most: float | None = None
    note: str = ""

    @property
    def verdict(self) -> str:
        """``ok`` or ``short`` of its bar; empty without one."""
        if self.least is None and self.most is None:
            return ""
        reached = (self.least is None or self.value >= self.least) and (self.most is None or self.value <= self.most)
        return "ok" if reached else "short"

    @property
    def bar(self) -> str:
        """The bar in words."""
        return f">= {self.least:g}" if self.least is not None else f"<= {self.most:g}" if self.most is not None else "printed"


def figure(name: str, samples: Sequence[float], *, least: float | None = None, most: float | None = None, note: str = "") -> Figure:
    """The figure of some samples of one ratio."""
    low, high = middle(samples)
    return Figure(name=name, value=median(samples), low=low, high=high, least=least, most=most, note=note)


def middle(samples: Sequence[float]) -> tuple[float, float]:
    """The quartiles: what half of the samples lie between."""
    if len(samples) < 2:
        return samples[0], samples[0]
    cuts = quantiles(samples, n=4, method="inclusive")
    return cuts[0], cuts[2]


def percentile(samples: Iterable[float], share: float) -> float:
    """The sample below which ``share`` of all lie."""
    ordered = sorted(samples)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]


def line(each: Figure) -> str:
    """One line: verdict, name, value with its spread, bar, and what it was made of."""
    spread = f"({each.low:.4g} to {each.high:.4g})"
    return f"{each.verdict or '-':5} {each.name:58} {each.value:8.4g} {spread:22} {each.bar:8} {each.note}".rstrip()
