"""The data of the figures: throughput and instructions of every case, one point per night."""
import dataclasses

from gradcomp.gate import significance
from gradcomp.gate.decide import REGRESSION

from . import check

THROUGHPUT, INSTRUCTIONS = "throughput", "instructions"
SHARE, SPEED = "share of the read limit", "GB/s of gradient"
FIRST, GOOD, ACCEPTED = "first night", "good", "accepted"
NOT_COMPARABLE = "not comparable"


@dataclasses.dataclass
class Point:
    """One night of one case. `low` and `high`: 95 % interval of the median, by bootstrap over processes."""

    night: int
    value: float
    low: float
    high: float
    state: str


def _state(night, verdict, key, judged):
    """The mark of this point; `judged`: the verdict of its case or figure, or None if there is none."""
    if verdict[check.GOOD] is None:
        return FIRST
    if night.accepted:
        return ACCEPTED
    if verdict["status"] == check.NOT_COMPARABLE:
        return NOT_COMPARABLE
    return judged.get(key, GOOD)


def _interval(values, name):
    rules = check.RULES
    middle = significance.ratio([1.0], values)
    if min(values) == max(values):
        return middle, middle, middle
    return middle, *significance.interval([1.0], values, rules.level, rules.resamples // 4, rules.seed, name)


def _throughput(arm, name):
    """(values of the processes, unit). Divided by the time to read the gradient, times contain less noise of the night and can
    be compared between machines."""
    cases = [process.cases[name] for process in arm.processes]
    if all(case.read_ms for case in cases):
        return [case.read_ms / case.time_ms for case in cases], SHARE
    return [4e-6 * case.elements / case.time_ms for case in cases], SPEED


def collect(judged):
    """{case: {(measure, unit): [Point]}} of judged nights, with cases in the order of the newest night."""
    found = {}
    for number, night in enumerate(judged):
        verdict, arm, counts = night.verdict, night.arm(), night.counts()
        times = {case["name"]: case["verdict"] for case in verdict["cases"]}
        times |= {case["name"]: REGRESSION for case in verdict["cases"] if case["verdict"] == REGRESSION}
        figures = {change["case"]: REGRESSION for change in verdict["changes"]
                   if change["column"] == INSTRUCTIONS and change["regression"]}
        for name in arm.cases if arm else ():
            values, unit = _throughput(arm, name)
            middle, low, high = _interval(values, name)
            point = Point(number, middle, low, high, _state(night, verdict, name, times))
            found.setdefault(name, {}).setdefault((THROUGHPUT, unit), []).append(point)
        for row in counts["benchmarks"] if counts else ():
            if row.get("instructions"):
                value = row["instructions"]
                point = Point(number, value, value, value, _state(night, verdict, row["name"], figures))
                found.setdefault(row["name"], {}).setdefault((INSTRUCTIONS, INSTRUCTIONS), []).append(point)
    return found
