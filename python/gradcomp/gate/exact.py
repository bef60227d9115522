"""Compares figures that do not depend on the clock. Any change of bytes or of a checksum is a regression. So are more
allocations, and instructions that grow by more than 1 % plus 100."""
import dataclasses
import statistics

from gradcomp.errors import ToolError

INSTRUCTIONS = 0.01  # share by which instruction counts may grow
SLACK = 100  # instructions by which they may grow, too: the addresses of memory change them by some tens


@dataclasses.dataclass
class Change:
    """A figure that changed."""

    case: str
    column: str
    baseline: object
    new: object
    regression: bool


def _values(arm, name, column):
    return [process.cases[name].exact.get(column) for process in arm.processes]


def _one(arm, name, column):
    """The value that all processes agree on; for instructions the median. Throws ToolError."""
    values = _values(arm, name, column)
    if column == "instructions" and all(isinstance(value, (int, float)) for value in values):
        return statistics.median_low(values)
    if any(value != values[0] for value in values):
        raise ToolError(f"{column} of {name} differs between the processes of {arm.name}: "
                        f"{', '.join(sorted(set(map(str, values))))}")
    return values[0]


def _worse(column, before, after):
    if column == "allocations" and None not in (before, after):
        return after > before
    if column == "instructions" and None not in (before, after):
        return after > before * (1 + INSTRUCTIONS) + SLACK
    return True


def judged(name, column, before, after):
    """The Change of a figure from `before` to `after`, or None if it did not change."""
    if before is None or after == before:
        return None
    worse = _worse(column, before, after)
    if worse or column == "allocations" or after < before * (1 - INSTRUCTIONS) - SLACK:
        return Change(name, column, before, after, worse)
    return None


def changes(baseline, new, names):
    """[Change] of the cases `names`. A column that only NEW has is not a change; one that NEW does not have any more is a
    regression."""
    found = []
    for name in names:
        columns = list(baseline.processes[0].cases[name].exact)
        for column in columns:
            before = _one(baseline, name, column)
            try:
                after = _one(new, name, column)
            except ToolError:
                values = sorted(set(map(str, _values(new, name, column))))
                found.append(Change(name, column, before, f"{' or '.join(values[:3])}, by process", True))
                continue
            change = judged(name, column, before, after)
            if change:
                found.append(change)
    return found
