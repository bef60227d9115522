"""Prints which shell blocks ran, and which did not and why, in the form that ./run test counts (tests/skips.hpp)."""
import collections

import runner


def pytest_terminal_summary(terminalreporter):
    """After the tests, whether or not they passed."""
    ran, marked = runner.RAN, runner.MARKED
    if not ran and not marked:
        return
    write = terminalreporter.write_line
    write(f"shell blocks: {len(ran)} executed in {sum(seconds for seconds, _ in ran):.0f} s, {len(marked)} marked")
    for seconds, place in sorted(ran, reverse=True)[:5]:
        write(f"{seconds:7.1f} s  {place}")
    for reason, count in sorted(collections.Counter(marked).items()):
        write(f"skipped {count}: shell block of a page: {reason}")
