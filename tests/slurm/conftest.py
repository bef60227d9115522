"""Says how many tests were left out and why, in the form that ./run test counts."""
import collections
import pathlib

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]


def pytest_terminal_summary(terminalreporter):
    """One line a reason, as tests/skips.hpp prints them."""
    reasons = collections.Counter(report.longrepr[2].removeprefix("Skipped: ")
                                  for report in terminalreporter.stats.get("skipped", []))
    for reason, count in reasons.items():
        terminalreporter.write_line(f"skipped {count}: {reason}")


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session):
    """All left out is ctest's Skipped (SKIP_RETURN_CODE 5), not passed."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if session.exitstatus == 0 and reporter.stats.get("skipped") and not reporter.stats.get("passed"):
        session.exitstatus = 5
