"""A skip is a failure where the integration runs."""

from __future__ import annotations

import pytest

from tests.conftest import skip_as_failure

REASON = ("tests/some.py", 7, "Skipped: no ffmpeg here")


def report_of(outcome: str) -> pytest.CollectReport:
    """A report as pytest makes it for a module that was skipped, or not."""
    return pytest.CollectReport(nodeid="some", outcome=outcome, longrepr=REASON, result=[])  # type: ignore[arg-type]


def test_a_skip_becomes_a_failure_that_says_why() -> None:
    """The reason is kept, since it names what the machine lacks."""
    report = skip_as_failure(report_of("skipped"))
    assert report.outcome == "failed"
    assert "no ffmpeg here" in str(report.longrepr)


def test_a_passed_test_stays_passed() -> None:
    """Only skips are looked at."""
    assert skip_as_failure(report_of("passed")).outcome == "passed"


def test_an_expected_failure_stays_one() -> None:
    """Pytest reports an expected failure as skipped, but it was run."""
    report = report_of("skipped")
    report.wasxfail = "known"  # type: ignore[attr-defined]
    assert skip_as_failure(report).outcome == "skipped"
