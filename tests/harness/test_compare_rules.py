"""The statistics and the rules of tools/gradcomp-compare, tested separately."""
import random
from types import SimpleNamespace

import pytest

stats = pytest.importorskip("scipy.stats")
from gradcomp.gate import comparable, decide, significance


def test_holm_by_hand():
    # 0.005 x 4, 0.01 x 3, 0.03 x 2, and then 0.04 x 1, which is raised to the previous value.
    assert significance.holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert significance.holm([0.5, 0.9]) == [1.0, 1.0] and significance.holm([]) == []


@pytest.mark.parametrize("first, second", [(10, 10), (20, 10), (5, 5), (25, 40)])
def test_mann_whitney_is_scipys(first, second):
    numbers = random.Random(first)
    one = [numbers.gauss(1, 0.1) for _ in range(first)]
    other = [numbers.gauss(1.05, 0.1) for _ in range(second)]
    expected = stats.mannwhitneyu(other, one, alternative="greater", method="exact").pvalue
    assert significance.slower(one, other) == pytest.approx(expected)
    assert significance.slower(one, [time + 9 for time in one]) == pytest.approx(significance.smallest_p(first, first))


def test_ties_never_help_a_finding():
    assert significance.slower([1.0] * 10, [1.0] * 10) == 1.0
    # There is one tie between the arms, which is broken both ways by hand.
    tied, above = significance.slower([1, 2, 3, 4], [4, 5, 6, 7]), significance.slower([1, 2, 3, 4], [4.1, 5, 6, 7])
    assert tied == significance.slower([1, 2, 3, 4], [3.9, 5, 6, 7]) == pytest.approx(2 / 70)
    assert above == pytest.approx(1 / 70)


def test_interval_covers_the_ratio():
    inside, numbers = 0, random.Random(5)
    for trial in range(100):
        one, other = ([factor * numbers.lognormvariate(0, 0.05) for _ in range(20)] for factor in (1, 1.1))
        low, high = significance.interval(one, other, 0.95, 500, 1, str(trial))
        assert low <= significance.ratio(one, other) <= high
        inside += low <= 1.1 <= high
    assert 88 <= inside <= 100
    assert significance.interval(one, other, 0.95, 500, 1, "x") == significance.interval(one, other, 0.95, 500, 1, "x")


def test_the_bound_of_the_spread_sees_noise_that_two_medians_hide():
    alike = [1.0, 0.8, 1.2] * 4
    assert significance.spread(alike, alike) == 0
    assert significance.spread_bound([1.0] * 9, [1.0] * 9, 0.95, 99, 1, "") == 0
    assert 0.1 < significance.spread_bound(alike, alike, 0.95, 500, 1, "x") <= 0.5
    inside = 0
    for trial in range(100):
        numbers = random.Random(trial)
        one, other = ([numbers.lognormvariate(0, 0.05) for _ in range(10)] for _ in range(2))
        inside += significance.spread(one, other) <= significance.spread_bound(one, other, 0.95, 500, 1, str(trial))
    assert inside == 100, "the bootstrap is centred on what was seen"


@pytest.mark.parametrize("figures, verdict, reason", [
    ({}, decide.OK, ""), ({"p": 0.009, "ratio": 1.06}, decide.REGRESSION, "slower by 6.0 %"),
    ({"p": 0.011, "ratio": 1.06}, decide.OK, ""), ({"p": 0.0, "ratio": 1.049}, decide.OK, ""),
    ({"p": 0.0, "ratio": 1.12, "spread": 0.061, "threshold": 0.122}, decide.INCONCLUSIVE, "within twice the A/A"),
    ({"p": 0.0, "ratio": 9.0, "spread": 0.26, "threshold": 0.52}, decide.INCONCLUSIVE, "A/A spread 26.0 %"),
    ({"p": 0.0, "ratio": 9.0, "spread": 0.06, "p_control": 0.009}, decide.INCONCLUSIVE, "control itself differs"),
    ({"p": 0.0, "ratio": 9.0, "spread": 0.04, "p_control": 0.009}, decide.REGRESSION, "slower by 800.0 %"),
    ({"p_excluded": 0.01}, decide.INCONCLUSIVE, "too noisy to exclude 15 %"),
    ({"p_faster": 0.009, "ratio": 0.9}, decide.FASTER, "faster by 10.0 %"),
    ({"p_faster": 0.009, "ratio": 0.96}, decide.OK, "")])
def test_every_rule(figures, verdict, reason):
    unchanged = {"ratio": 1.0, "p": 1.0, "p_faster": 1.0, "p_excluded": 0.0, "spread": 0.0, "p_control": 1.0,
                 "threshold": 0.05}
    found = decide.judge(decide.Result("x", decide.OK, "", **unchanged | figures), decide.Rules())
    assert found[0] == verdict and reason in found[1] and bool(reason) == bool(found[1])


def arm(times, halves=()):
    """The columns that decide.measure() reads."""
    return SimpleNamespace(times=lambda name, normalised: list(times), halves=halves)


@pytest.mark.parametrize("later, slow, spread, threshold, verdict", [
    (1.04, 1.07, 0.04, 0.08, decide.INCONCLUSIVE), (1.04, 1.075, 0.04, 0.08, decide.INCONCLUSIVE),
    (1.04, 1.085, 0.04, 0.08, decide.REGRESSION), (0.96, 1.09, 1 / 0.96 - 1, 2 / 0.96 - 2, decide.REGRESSION),
    (0.96, 1.08, 1 / 0.96 - 1, 2 / 0.96 - 2, decide.INCONCLUSIVE), (1.0, 1.051, 0, 0.05, decide.REGRESSION),
    (1.0, 1.049, 0, 0.05, decide.OK), (1.02, 1.051, 0.02, 0.05, decide.REGRESSION)])
def test_a_slow_down_must_exceed_twice_the_spread_of_the_control(later, slow, spread, threshold, verdict):
    """The halves of the baseline have the medians 1 and `later`, so that the median of all is (1 + later) / 2."""
    middle = (1 + later) / 2
    baseline = arm([1.0] * 6 + [later] * 6, (range(6), range(6, 12)))
    found = decide.measure(baseline, arm([slow * middle] * 12), "case", False, decide.Rules())
    assert found.ratio == pytest.approx(slow) and found.baseline == pytest.approx(middle)
    assert found.spread == pytest.approx(spread) and found.threshold == pytest.approx(threshold)
    # The halves are 6 of 12 and do not overlap. On each side, 1 of 924 orders is that far apart.
    assert found.p_control == pytest.approx(2 / 924 if spread else 1)
    found.p_control = 1.0  # a separate rule, tested above
    assert decide.judge(found, decide.Rules())[0] == verdict


@pytest.mark.parametrize("first, second, apart", [
    ("1T01 1T03 1T05", "1T02 1T04 1T06", False), ("1T01 1T01", "1T01 1T01", False), ("1T01 1T02", "1T03 1T04", True),
    ("1T03 1T04", "1T01 1T02", True), ("1T01 1T03 2T01", "1T02 1T04 1T05", True),
    ("1T01 1T02 1T09", "1T05 1T06 1T07", True), ("1T05 1T06 1T07", "1T01 1T02 1T09", True)])
def test_when_arms_were_measured_apart(first, second, apart):
    arms = [SimpleNamespace(processes=[SimpleNamespace(date=f"2025-01-0{date}:00:00Z") for date in dates.split()])
            for dates in (first, second)]
    assert comparable.dates_differ(*arms) == apart
