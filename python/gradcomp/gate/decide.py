"""The decision per case and of the whole comparison."""
import dataclasses
import statistics

from gradcomp.errors import ToolError

from . import exact, significance

OK, FASTER, REGRESSION, INCONCLUSIVE, NOT_JUDGED = "ok", "faster", "REGRESSION", "inconclusive", "not judged"
RESOLUTION_MS = 1e-3  # a shorter median is only a few ticks of the clock


@dataclasses.dataclass(frozen=True)
class Rules:
    """The limits of the decision, as shares of the baseline's median."""

    alpha: float = 0.01  # significance level of every test, after Holm's correction
    floor: float = 0.05  # smaller slow-downs are never reported
    detect: float = 0.15  # slow-down that must be excluded for a pass
    control: float = 0.25  # A/A spread above which a case is inconclusive
    level: float = 0.95  # confidence level of the interval and of the bound that are shown
    resamples: int = 2000
    minimum: int = 10  # smallest number of processes of an arm
    seed: int = 1


@dataclasses.dataclass
class Result:
    """The result of one case. Times are in ms, or if normalised in multiples of one read of the gradient."""

    name: str
    verdict: str
    reason: str
    baseline: float | None = None
    new: float | None = None
    ratio: float | None = None
    low: float | None = None
    high: float | None = None
    p: float | None = None  # p of the slow-down, corrected
    p_faster: float | None = None  # p of the opposite, corrected
    p_excluded: float | None = None  # p of "slower by Rules.detect or more"
    spread: float | None = None  # p of the A/A control
    spread_bound: float | None = None  # upper bound of the spread, by its noise
    p_control: float | None = None  # p of a difference within the control, corrected
    threshold: float | None = None  # slow-down that would be reported


@dataclasses.dataclass
class Outcome:
    """The outcome of the whole comparison."""

    baseline: object
    new: object
    rules: Rules
    normalised: bool
    results: list
    changes: list
    notes: list

    def count(self, verdict):
        return sum(result.verdict == verdict for result in self.results)

    @property
    def status(self):
        """Exit status: 0 no regression, 1 regression, 3 inconclusive."""
        if self.count(REGRESSION) or any(change.regression for change in self.changes):
            return 1
        return 3 if self.count(INCONCLUSIVE) else 0


def _unjudged(baseline, new, name, normalised):
    """The reason why the times of a case cannot be judged, or ''."""
    if normalised and baseline.cases[name].read_ms is None:
        return "no read limit to divide by"
    short = all(statistics.median(arm.times(name, False)) < RESOLUTION_MS for arm in (baseline, new))
    return "shorter than 1 us" if short else ""


def measure(baseline, new, name, normalised, rules):
    """The result of a case with uncorrected p values and without a verdict."""
    before, after = baseline.times(name, normalised), new.times(name, normalised)
    first, second = ([before[index] for index in half] for half in baseline.halves)
    ratio = significance.ratio(before, after)
    low, high = significance.interval(before, after, rules.level, rules.resamples, rules.seed, name)
    spread = significance.spread(first, second)
    bound = significance.spread_bound(first, second, rules.level, rules.resamples, rules.seed, name)
    return Result(name, OK, "", significance.ratio([1], before), significance.ratio([1], after), ratio, low, high,
                  p=significance.slower(before, after), p_faster=significance.slower(after, before),
                  p_excluded=significance.slower(after, [(1 + rules.detect) * time for time in before]), spread=spread,
                  spread_bound=bound, threshold=max(rules.floor, 2 * spread),
                  p_control=min(1.0, 2 * min(significance.slower(first, second), significance.slower(second, first))))


def judge(result, rules):
    """(verdict, reason) of a case whose p values are corrected."""
    slowdown = result.ratio - 1
    if result.spread > rules.control:
        return INCONCLUSIVE, f"A/A spread {100 * result.spread:.1f} %"
    if result.p_control < rules.alpha and result.spread > rules.floor:
        return INCONCLUSIVE, "the A/A control itself differs"
    if result.p < rules.alpha and slowdown > result.threshold:
        return REGRESSION, f"slower by {100 * slowdown:.1f} %"
    if result.p < rules.alpha and slowdown > rules.floor:
        return INCONCLUSIVE, f"slower, within twice the A/A spread of {100 * result.spread:.1f} %"
    if result.p_excluded >= rules.alpha:
        return INCONCLUSIVE, f"too noisy to exclude {100 * rules.detect:.0f} %"
    if result.p_faster < rules.alpha and 1 / result.ratio - 1 > result.threshold:
        return FASTER, f"faster by {100 * (1 - result.ratio):.1f} %"
    return OK, ""


def _correct(results, column):
    for result, value in zip(results, significance.holm([getattr(result, column) for result in results]), strict=True):
        setattr(result, column, value)


def compare(baseline, new, normalised, rules, names, notes=()):
    """Judges the cases `names`, which both arms have. Throws ToolError if there are too few samples for so many cases."""
    reasons = {name: _unjudged(baseline, new, name, normalised) for name in names}
    count, sizes = list(reasons.values()).count(""), (len(baseline.processes), len(new.processes))
    if not count and not any(case.exact for case in baseline.cases.values()):
        raise ToolError("nothing to judge: no case has times that can be compared, or counts")
    if significance.smallest_p(*sizes) * count >= rules.alpha:
        raise ToolError(f"too few processes: {sizes[0]} and {sizes[1]} can never show that one of {count} cases "
                        f"is slower at p < {rules.alpha:g}; measure more processes, or fewer cases (--filter)")
    changes = exact.changes(baseline, new, names)
    results = [Result(name, NOT_JUDGED, reason) if reason else measure(baseline, new, name, normalised, rules)
               for name, reason in reasons.items()]
    judged = [result for result in results if result.verdict != NOT_JUDGED]
    for column in ("p", "p_faster", "p_control"):
        _correct(judged, column)
    for result in judged:
        result.verdict, result.reason = judge(result, rules)
    return Outcome(baseline, new, rules, normalised, results, changes, list(notes))
