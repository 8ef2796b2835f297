"""What holds for every test: where the integration runs, a test that was skipped counts as one that failed.

A skip says "this machine cannot show it"; the machine that decides over a change must be able to show everything.
"""

from __future__ import annotations

import os
from collections.abc import Generator
from typing import TypeVar

import pytest

SKIPS_FAIL = os.environ.get("CI") == "true"

Report = TypeVar("Report", pytest.TestReport, pytest.CollectReport)


def skip_as_failure(report: Report) -> Report:
    """The report of a skip as that of a failure, with the reason for the skip; an expected failure stays as it is."""
    if report.outcome == "skipped" and not hasattr(report, "wasxfail"):
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
        report.outcome = "failed"
        report.longrepr = f"skipped where nothing may be skipped (CI=true): {reason}"
    return report


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Turn a skipped test into a failed one where that is asked for."""
    report = yield
    return skip_as_failure(report) if SKIPS_FAIL else report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Turn a module that skipped itself as a whole into a failed one where that is asked for."""
    report = yield
    return skip_as_failure(report) if SKIPS_FAIL else report
