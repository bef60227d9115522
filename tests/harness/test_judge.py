"""The judge, with figures worked out by hand."""
import math

import pytest

from gradcomp.results import judge

T1, T2 = 12.7062, 4.30265  # quantiles 0.975 of Student's t with 1 and 2 degrees of freedom (tables)
T1_OF_TWO = 25.4517  # 0.9875: two intervals that hold together with 95 %


def geometric(one, other, quantile=T1):
    """The geometric mean of two ratios with its interval."""
    middle, half = math.sqrt(one * other), math.exp(quantile * abs(math.log(one / other)) / 2)
    return {"mean": middle, "low": middle / half, "high": middle * half}


def row(label, quality, time, seed=1, **more):
    """What gradcomp-train writes of a method with one seed, as far as the judge reads it."""
    role = {"fp32": "fp32", "fp16": "fp16", "bf16": "bf16", "no_exchange": "bound"}.get(label, "method")
    return {"name": f"train/{label}", "run_type": "iteration", "method": label, "label": label, "seed": seed, "metric": "accuracy",
            "test_quality": quality, "role": role, "workers": 2, "replica_hash_equal": None if role == "bound" else True,
            "step_time_ms": {"mean": time}, "wire_bytes": 10.0 * seed, "lack_allowed": 0.02, "reference_quality": 0.2,
            **({"bucket_kib": 0} if role in judge.DENSE else {}), **more}


def seeds(label, *results, **more):
    """The rows of [(quality, time)]."""
    return [row(label, quality, time, seed, **more) for seed, (quality, time) in enumerate(results, 1)]


def judged(*rows):
    """{label: rows}, with what each lacks of fp32."""
    rows = [one for some in rows for one in (some if isinstance(some, list) else [some])]
    fp32 = {one["seed"]: one["test_quality"] for one in rows if one["label"] == "fp32"}
    for one in rows:
        reference, own = fp32.get(one["seed"]), one["test_quality"]
        lack = None if None in (reference, own) else math.log(own / reference) if one["metric"] == "perplexity" else reference - own
        one.setdefault("lack", lack)
    found = {}
    for one in judge.judged({"context": {"gradcomp": {"schema_version": 3, "ranks": 2}}, "benchmarks": rows}):
        found.setdefault(one["label"], []).append(one)
    return found


def controls():
    return [row("fp32", 0.90, 100), row("fp16", 0.895, 80), row("bf16", 0.90, 90)]


def speeds(one):
    return one["quality_matched"], one["speedup_vs_fp32"], one["speedup_vs_best_dense"]


def test_speed_ups_are_shown_at_matched_quality_only():
    found = judged(controls(), row("a", 0.885, 50), row("b", 0.70, 10), row("no_exchange", 0.60, 1),
                   row("c", 0.95, 1, replica_hash_equal=False), row("d", None, 1, diverged_at_step=3))
    assert speeds(found["fp32"][0]) == (True, 1, 0.8)
    assert speeds(found["a"][0]) == (True, 2, 1.6)
    for label in ("b", "no_exchange", "c", "d"):
        assert speeds(found[label][0]) == (False, None, None), label


def test_the_tolerance_is_exact_and_one_sided():
    def matched(quality, allowed):
        return judged(row("fp32", 0.75, 1), row("a", quality, 1, lack_allowed=allowed))["a"][0]["quality_matched"]
    assert matched(0.75 - 0.015625, 0.015625), "0.75 and 2^-6 are exact, so this is at the limit"
    assert not matched(0.75 - 0.0157, 0.015625) and matched(0.99, 0)
    words = {"metric": "perplexity", "lack_allowed": math.log(1.02), "reference_quality": 270}
    found = judged(row("fp32", 100, 10, **words), *(row(str(value), value, 5, **words) for value in (101.9, 102.1, 90)))
    assert [found[label][0]["quality_matched"] for label in ("101.9", "102.1", "90")] == [True, False, True]


def test_over_seeds_the_interval_of_the_mean_decides():
    # The lacks 0.006, 0.010 and 0.014 have the mean 0.010 and the deviation 0.004: the interval ends at 0.010 + T2 x 0.004 / sqrt(3).
    fp32, close = ((0.90, 10), (0.92, 10), (0.88, 10)), ((0.894, 5), (0.91, 4), (0.866, 8))
    assert 0.010 + T2 * 0.004 / math.sqrt(3) == pytest.approx(0.0199366, abs=1e-7)
    for allowed, matched in ((0.01994, True), (0.01993, False)):
        found = judged(seeds("fp32", *fp32), seeds("a", *close, lack_allowed=allowed))["a"]
        assert [one["quality_matched"] for one in found] == 4 * [matched]
        if matched:
            assert [one["speedup_vs_fp32"] for one in found[:3]] == [2, 2.5, 1.25]
    # With the lacks 0.021, 0, 0.001, .. over eight seeds the interval ends below 0.01: more seeds must not make it harder to pass.
    noisy = [(0.9 - lack, 1) for lack in (0.021, 0.0, *[0.001] * 6)]
    assert judged(seeds("fp32", *[(0.9, 1)] * 8), seeds("a", *noisy))["a"][-1]["quality_matched"]
    noisy[7] = (None, 1)  # a diverged seed is not noise
    assert not judged(seeds("fp32", *[(0.9, 1)] * 8), seeds("a", *noisy))["a"][-1]["quality_matched"]


def told(*rows):
    """(task_tells, whether method a is matched) of the first seed."""
    found = judged(*rows)["a"]
    assert all(one["task_tells"] == found[0]["task_tells"] for one in found)
    return found[0]["task_tells"], found[0]["quality_matched"]


@pytest.mark.parametrize("alone, tells, matched", [(0.95, False, False), (0.90, False, False), (0.885, False, False), (0.87, True, True),
                                                   (None, True, True)])
def test_a_task_on_which_ranks_need_not_exchange_does_not_tell(alone, tells, matched):
    assert told(row("fp32", 0.90, 2), row("a", 0.89, 1), row("no_exchange", alone, 1)) == (tells, matched)
    found = judged(controls(), row("a", 0.89, 50), row("no_exchange", alone, 1))["a"][0]
    assert found["speedup_vs_fp32"] == (2 if matched else None) and found["gap_share"] == (
        pytest.approx(2 / 3) if alone == 0.87 else None)


def test_without_no_exchange_or_a_reference_it_is_not_known_whether_a_task_tells():
    assert told(row("fp32", 0.90, 2), row("a", 0.89, 1)) == (None, True)
    assert told(row("fp32", 0.10, 2), row("a", 0.10, 1), row("no_exchange", 0.05, 1)) == (None, False)


def test_over_seeds_the_interval_of_the_gap_decides():
    # The gaps 0.01, 0.02 and 0.03 have the deviation 0.01: their mean is above 0 if 0.02 > T2 x 0.01 / sqrt(3) = 0.0248. It is not.
    fp32, close = [(0.9, 1)] * 3, [(0.899, 1)] * 3
    assert told(seeds("fp32", *fp32), seeds("a", *close), seeds("no_exchange", (0.89, 1), (0.88, 1), (0.87, 1))) == (False, False)
    assert told(seeds("fp32", *fp32), seeds("a", *close), seeds("no_exchange", (0.88, 1), (0.87, 1), (0.86, 1))) == (True, True)


def test_a_method_holds_more_than_half_of_the_gap_with_its_whole_interval():
    # The gaps 0.030, 0.031 and 0.032; the lacks 0.010, 0.012 and 0.011 (deviations 0.001, covariance 0.5e-6). Fieller, by hand: with
    # f = T2^2 / 3 the ratio r solves (0.031^2 - 1e-6 f) r^2 - 2 (0.011 x 0.031 - 0.5e-6 f) r + 0.011^2 - 1e-6 f = 0.
    alone = seeds("no_exchange", (0.870, 1), (0.869, 1), (0.868, 1))
    found = judged(seeds("fp32", *[(0.9, 1)] * 3), seeds("a", (0.890, 1), (0.888, 1), (0.889, 1)), alone)
    share, f = found["a"][-1]["gap_share_over_seeds"], T2 ** 2 / 3
    a, b, c = 0.031 ** 2 - 1e-6 * f, 0.011 * 0.031 - 0.5e-6 * f, 0.011 ** 2 - 1e-6 * f
    assert share["mean"] == pytest.approx(1 - 11 / 31)
    assert [share["high"], share["low"]] == pytest.approx([1 - (b + sign * math.sqrt(b * b - a * c)) / a for sign in (-1, 1)], rel=1e-4)
    assert found["a"][-1]["quality_matched"] and found["a"][0]["gap_share"] is None
    assert found["fp32"][-1]["gap_share_over_seeds"] == {"mean": 1, "low": 1, "high": 1}
    assert found["no_exchange"][-1]["gap_share_over_seeds"] == pytest.approx({"mean": 0, "low": 0, "high": 0}, abs=1e-6)
    lost = seeds("a", (0.886, 1), (0.885, 1), (0.884, 1))  # 0.014, 0.015, 0.016 are within 0.02, and about half of the gap
    found = judged(seeds("fp32", *[(0.9, 1)] * 3), lost, alone)["a"][-1]
    assert not found["quality_matched"] and 0.4 < found["gap_share_over_seeds"]["mean"] < 0.55


def test_the_best_dense_control_is_the_fastest_over_all_seeds_whatever_its_quality():
    missed = controls()
    missed[1]["test_quality"] = 0.87
    found = judged(missed, row("a", 0.90, 50))
    assert speeds(found["fp16"][0]) == (False, None, None) and speeds(found["a"][0]) == (True, 2, 1.6)
    found = judged(seeds("fp32", (0.9, 10), (0.9, 10)), seeds("fp16", (0.9, 4), (0.9, 9)), seeds("bf16", (0.9, 8), (0.9, 6)),
                   seeds("a", (0.9, 2), (0.9, 3)))
    assert [one["speedup_vs_best_dense"] for one in found["a"][:2]] == [2, 3], "fp16: 13 in all"


def test_the_best_dense_control_needs_all_three_at_their_best_buckets():
    for left_out in ("fp16", "bf16"):
        found = judged([one for one in controls() if one["label"] != left_out], row("a", 0.90, 50))
        assert speeds(found["a"][0]) == (True, 2, None)
    guessed = controls()
    del guessed[2]["bucket_kib"]
    assert speeds(judged(guessed, row("a", 0.90, 50))["a"][0]) == (True, 2, None)


def test_steps_with_ranks_that_only_serve_are_of_fewer_samples():
    assert judged(row("fp32", 0.9, 10), row("a", 0.9, 10, workers=1))["a"][0]["speedup_vs_fp32"] == 0.5


def at_target(label, time, reached, count):
    def cost(seed, value):
        return value if seed <= reached else None
    return [row(label, 0.9, time, seed, target=0.8, target_reached=seed <= reached, steps_to_target=cost(seed, 100),
                time_to_target_s=cost(seed, time), wire_bytes_to_target=cost(seed, 5)) for seed in range(1, count + 1)]


@pytest.mark.parametrize("reached, count, passes", [
    (1, 1, True), (2, 3, True), (4, 5, True), (8, 8, True), (0, 1, False), (1, 2, False), (1, 3, False), (2, 4, False)])
def test_more_than_half_of_the_seeds_must_reach_the_target(reached, count, passes):
    found = judged(at_target("fp32", 10, count, count), at_target("a", 5, reached, count))["a"]
    assert found[0]["quality_matched"] and found[0]["speedup_vs_fp32"] == (2 if passes else None)
    assert found[0]["speedup_to_target"] == (2 if passes else None)
    if count > 1:
        total = found[-1]
        assert total["seeds_at_target"] == reached
        assert (total["speedup_to_target_over_seeds"] is None) == (reached < count), "a mean over the lucky seeds flatters"
    reference = judged(at_target("fp32", 10, reached, count), at_target("a", 5, count, count))
    assert reference["a"][0]["quality_matched"] == passes, "fp32 itself must reach it"


@pytest.mark.parametrize("quality, enough, metric, learned", [
    (0.1999, 0.2, "accuracy", False), (0.2001, 0.2, "accuracy", True), (271.8, 271.72, "perplexity", False),
    (271.6, 271.72, "perplexity", True), (None, 0.2, "accuracy", False)])
def test_a_reference_that_has_learned_nothing_is_none(quality, enough, metric, learned):
    facts = {"metric": metric, "reference_quality": enough}
    found = judged(row("fp32", quality, 3, **facts), row("a", quality or 0.9, 2, **facts))
    assert found["a"][0]["quality_matched"] == learned and (found["a"][0]["speedup_vs_fp32"] is not None) == learned
    assert not judged(seeds("fp32", (0.9, 1), (0.1, 1)), seeds("a", (0.9, 1), (0.9, 1)))["a"][0]["quality_matched"], "every seed"


def test_without_a_reference_nothing_matches():
    assert speeds(judged(row("a", 0.9, 1))["a"][0]) == (False, None, None)


def test_figures_over_seeds_are_means_with_intervals():
    found = judged(seeds("fp32", (0.90, 12), (0.94, 16)), seeds("a", (0.89, 6), (0.95, 4)))
    total = found["a"][-1]
    assert total["run_type"] == "aggregate" and total["seeds"] == [1, 2] and total["name"] == "train/a/seeds"
    for key, mean, half in (("test_quality", 0.92, 0.03), ("wire_bytes", 15, 5), ("step_time_ms", 5, 1), ("lack", 0, 0.01)):
        assert total[f"{key}_over_seeds"] == pytest.approx({"mean": mean, "low": mean - T1 * half, "high": mean + T1 * half}, rel=1e-5,
                                                           abs=1e-12)
    assert not total["quality_matched"] and total["speedup_vs_fp32_over_seeds"] is None, "two seeds that differ are not enough"
    found = judged(seeds("fp32", (0.90, 12), (0.94, 16)), seeds("a", (0.90, 6), (0.94, 4)))["a"][-1]
    assert found["speedup_vs_fp32_over_seeds"] == pytest.approx(geometric(2, 4), rel=1e-4)
    assert found["speedup_vs_best_dense_over_seeds"] is None
    assert judge.over_seeds([]) is None and judge.over_seeds([1.0, None]) is None
    assert judge.over_seeds([3.0]) == {"mean": 3, "low": None, "high": None}
    assert judge.over_seeds([1.0, 2, 3, 4])["high"] == pytest.approx(2.5 + 3.18244630528 * math.sqrt(5 / 12))


def over_links(*times, rates=(100, 400)):
    """The rows of fp32 (10 ms), fp16 (8 ms) and bf16 (9 ms) over all `rates`, and of a method with the `times` of each seed."""
    def rows(label, many):
        return [row(label, 0.9, 1, seed, over_links=[{"rate_mbit_s": rate, "step_time_ms": {"mean": time}}
                                                     for rate, time in zip(rates, some, strict=True)])
                for seed, some in enumerate(many, 1)]
    count = len(times)
    return judged(rows("fp32", [[10] * len(rates)] * count), rows("fp16", [[8] * len(rates)] * count),
                  rows("bf16", [[9] * len(rates)] * count), rows("a", times))


def test_every_link_has_an_answer_of_its_own():
    found = over_links((4, 16))
    one = found["a"][0]
    assert [(link["speedup_vs_fp32"], link["speedup_vs_best_dense"]) for link in one["over_links"]] == [(2.5, 2), (0.625, 0.5)]
    assert speeds(one) == (True, None, None), "each link has its own"
    assert one["pays"] == pytest.approx({"where": "below", "rate_mbit_s": 200, "low": None, "high": None}), "halfway on logarithms"
    assert found["fp16"][0]["pays"] is None, "there is no answer for a control"
    assert over_links((16, 4), rates=(400, 100))["a"][0]["pays"]["rate_mbit_s"] == pytest.approx(200), "in whatever order"
    total = over_links((4, 16), (2, 16))["a"]
    assert "pays" not in total[0], "the answer is that of all seeds"
    slow = total[-1]["over_links_over_seeds"][0]
    assert slow["step_time_ms"] == pytest.approx({"mean": 3, "low": 3 - T1, "high": 3 + T1}, rel=1e-5)
    assert slow["speedup_vs_best_dense"] == pytest.approx(geometric(2, 4), rel=1e-4)


def test_intervals_of_speed_ups_hold_together_for_all_methods_of_a_job():
    some = seeds("fp32", (0.9, 12), (0.9, 16)), seeds("a", (0.9, 6), (0.9, 4))
    alone, two = judged(*some), judged(*some, seeds("b", (0.88, 9), (0.9, 8)))
    for found, quantile, count in ((alone, T1, 1), (two, T1_OF_TWO, 2)):
        assert found["a"][-1]["compared"] == count and found["fp32"][-1]["compared"] == 1
        assert found["a"][-1]["speedup_vs_fp32_over_seeds"] == pytest.approx(geometric(2, 4, quantile), rel=1e-4)
    assert two["b"][-1]["lack_over_seeds"]["high"] == pytest.approx(0.01 + T1 * 0.01, rel=1e-4), "about one method"


def test_a_very_wide_interval_has_ends_with_logarithms():
    _, low, high = judge.geometric_interval([1e-90, 1e90])
    assert 0 < low < high < math.inf and judge.last_rate_that_pays((100, 400), (2.0, low)) == pytest.approx(100, rel=0.01)


def test_the_rate_over_seeds_is_a_mean_of_logarithms():
    # The seeds cross at 200 and at 400. The deviation of the logarithms is ln 2 / sqrt 2, over sqrt 2.
    found = over_links((4, 16, 80), (2, 8 / 1.0000000001, 32), rates=(100, 400, 1600))["a"][-1]["pays"]
    middle, half = math.sqrt(200 * 400), T1 * math.log(2) / 2
    assert found == pytest.approx({"where": "below", "rate_mbit_s": middle, "low": middle * math.exp(-half),
                                   "high": middle * math.exp(half)}, rel=1e-4)


@pytest.mark.parametrize("slow, fast, where, rate, low, high", [
    ((0.5, 0.51), (0.4, 0.4), "nowhere", None, 0, 0),
    ((2, 2), (1.3, 1.3), "everywhere", None, math.inf, math.inf),
    # The mean 0.9898 at 400 crosses at 100 x 4^(ln 2 / ln (2 / 0.9898)); its lower end, 0.7657, likewise; its upper end not.
    ((2, 2), (0.97, 1.01), "below", 392.0, 272.05, math.inf),
    ((2, 2), (0.7, 1.1), "below", 321.04, 129.70, math.inf),
    ((0.9, 1.3), (0.5, 0.5), "below", 115.15, 0, 293.62),
    ((2, 2), (0.9, 1.3), "everywhere", None, 138.49, math.inf),
    ((0.9, 1.3), (2, 2), "everywhere", None, math.inf, math.inf),  # for certain at the higher rate only
    ((0.8, 1.0), (0.5, 0.5), "nowhere", None, 0, 247.36)])
def test_if_some_seed_does_not_cross_the_mean_and_its_ends_do(slow, fast, where, rate, low, high):
    found = over_links(*((8 / one, 8 / other) for one, other in zip(slow, fast, strict=True)))["a"][-1]["pays"]
    assert (found["where"], found["low"], found["high"]) == (where, pytest.approx(low, rel=1e-3), pytest.approx(high, rel=1e-3))
    assert found["rate_mbit_s"] == pytest.approx(rate, rel=1e-3)


def test_a_missed_quality_has_no_answer():
    found = judged(*[row(label, quality, 1, over_links=[{"rate_mbit_s": rate, "step_time_ms": {"mean": 5}} for rate in (1, 2)])
                     for label, quality in (("fp32", 0.9), ("a", 0.5))])
    assert found["a"][0]["pays"] is None


@pytest.mark.parametrize("speedups, rate", [
    ((2.0, 0.5, 0.25), 316.228),  # ln 2 above 0 at 100, as much below 0 at 1000: the middle, sqrt(100 x 1000)
    ((4.0, 0.5, 0.25), 464.159),  # two thirds of the way: 100 x 10^(2/3)
    ((0.5, 2.0, 0.5), 3162.28),  # the highest crossing counts
    ((2.0, 1.0, 0.5), 1000.0), ((0.5, 0.9, 1.0), 0.0), ((0.5, 0.9, 1.1), math.inf)])
def test_the_last_rate_that_pays_lies_between_two_rates(speedups, rate):
    assert judge.last_rate_that_pays((100, 1000, 10000), speedups) == pytest.approx(rate, rel=1e-5)
