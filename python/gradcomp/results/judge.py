"""The judge: which methods trained to the quality of fp32, how much faster they are, and below which rate of the link they pay.
Programs measure and record facts of single runs; every reader of a result file gets them judged here, and nowhere else.

Rules. The quality of a method is matched if what it lacks of fp32 with the same seed is within what the job allows (with several
seeds: the upper end of the mean's 95 % interval), and if its replicas agree. Nothing is matched without an fp32 that learned
something with every seed (`reference_quality`), or that reached the job's target with more than half of its seeds.

A task on which ranks need not exchange says nothing about compressors. What `no_exchange` lacks of fp32 is the *gap*. Where the gap is
not above 0 for certain (its 95 % interval over seeds; with one seed: where it is within what the job allows), the task does not tell,
and nothing is matched. Where it is, a method must also hold more than half of the gap with its whole interval: its share of the gap is
(quality - that of no_exchange) / (quality of fp32 - that of no_exchange), with the interval of Fieller. Speed-ups are
ratios of mean steps, at matched quality only; with a target, only if more than half of the seeds of a method reached it (if all had
to, more seeds would make it harder to pass). Their means and intervals are geometric: those of the logarithms.

A job compares several methods, and readers pick the fastest one. So the intervals of their speed-ups hold together with 95 %, for all
methods of the job but its controls (Bonferroni's correction, `compared`). A verdict on quality is about one method alone.

The best dense control is the one of fp32, fp16 and bf16 whose steps take the least time over all seeds, whatever its quality: a
control that misses by noise remains the one to beat. If one of the three is missing, or if their buckets are not the best ones
(`bucket_kib`), there is no speed-up over it."""
import dataclasses
import math
import statistics

from scipy.stats import t as student

DENSE = ("fp32", "fp16", "bf16")


def mean_interval(samples, compared=1):
    """(mean, low, high) of samples, with 95 %, by Student's t; low and high are None with one sample. The intervals of all `compared`
    means of a table hold together with 95 % (Bonferroni's correction)."""
    mean = statistics.fmean(samples)
    if len(samples) == 1:
        return mean, None, None
    half = float(student.ppf(1 - 0.025 / compared, len(samples) - 1)) * statistics.stdev(samples) / len(samples) ** 0.5
    return mean, mean - half, mean + half


def geometric_interval(ratios, compared=1):
    """(mean, low, high) of ratios, as mean_interval() of their logarithms: twice and half as fast cancel out. The ends of a very wide
    interval are kept above 0 and finite."""
    logs = mean_interval([*map(math.log, ratios)], compared)
    return tuple(end if end is None else math.exp(max(-700, min(end, 700))) for end in logs)


def over_seeds(values, compared=1, interval=mean_interval):
    """{"mean", "low", "high"} of the values of all seeds, by mean_interval() or geometric_interval(). None if there are none, or if a
    seed has none: a mean over the lucky seeds would flatter."""
    if not values or any(value is None or not math.isfinite(value) for value in values):
        return None
    return dict(zip(("mean", "low", "high"), interval(values, compared), strict=True))


def end_of(over, end):
    """The low or high end of over_seeds(); with one seed its only value."""
    return over["mean"] if over[end] is None else over[end]


def ratio_of_means(tops, bottoms):
    """(ratio, low, high) of the means of paired samples, with 95 %, by Fieller's theorem. The interval of the mean of `bottoms` must
    not contain 0. With one pair low and high are None."""
    count, top, bottom = len(tops), statistics.fmean(tops), statistics.fmean(bottoms)
    if count == 1:
        return top / bottom, None, None
    factor = float(student.ppf(0.975, count - 1)) ** 2 / count
    a = bottom ** 2 - factor * statistics.variance(bottoms)
    b = top * bottom - factor * statistics.covariance(tops, bottoms)
    c = top ** 2 - factor * statistics.variance(tops)
    root = math.sqrt(max(0.0, b * b - a * c))
    return top / bottom, (b - root) / a, (b + root) / a


def last_rate_that_pays(rates, speedups):
    """The rate at which a speed-up falls below 1 as the link gets faster: `speedups` at the ascending `rates`, with logarithms
    interpolated between two rates. Of several such rates the highest counts. Infinity if the speed-up is above 1 at the highest
    rate, 0 if it is above 1 at no rate."""
    last = max((place for place, speedup in enumerate(speedups, 1) if speedup > 1), default=0)
    if last == 0:
        return 0.0
    if last == len(rates):
        return math.inf
    above, below = math.log(speedups[last - 1]), math.log(speedups[last])
    return rates[last - 1] * (rates[last] / rates[last - 1]) ** (above / (above - below))


@dataclasses.dataclass
class _Method:
    """A method of a job: the rows of its seeds, in their order."""

    rows: list
    ranks: int
    compared: int = 1  # methods of which the intervals of speed-ups hold together

    @property
    def role(self):
        return self.rows[0]["role"]

    @property
    def lacks(self):
        """What the seeds lack of fp32; empty if that is not known of all."""
        found = [row["lack"] for row in self.rows]
        return [] if None in found else found

    @property
    def sound(self):
        return all(row["replica_hash_equal"] is True and row["test_quality"] is not None for row in self.rows)

    @property
    def at_target(self):
        """The number of seeds that reached the job's target."""
        return sum(row["target_reached"] for row in self.rows)

    def times(self, link):
        """The mean step of each seed, over link number `link` of several. Ranks that only serve lengthen it in proportion: it is the
        time for as many samples as all ranks would take."""
        steps = [row["step_time_ms"] if link is None else row["over_links"][link]["step_time_ms"] for row in self.rows]
        return [_times(step["mean"], self.ranks / row["workers"]) for row, step in zip(self.rows, steps, strict=True)]


def _times(value, factor):
    return None if value is None else value * factor


def _over(theirs, mine):
    """The ratio of two times; None if one is missing."""
    return theirs / mine if theirs and mine else None


def _is_reference(method):
    """Whether this fp32 is one with which methods can be compared."""
    if not method.sound:
        return False
    if "target" in method.rows[0]:
        return 2 * method.at_target > len(method.rows)
    better = 1 if method.rows[0]["metric"] == "accuracy" else -1
    return all(better * row["test_quality"] >= better * row["reference_quality"] for row in method.rows)


def _tells(bound):
    """Whether ranks that never exchange are worse than fp32 for certain. If they diverged, they are."""
    gap = over_seeds(bound.lacks)
    if gap is None:
        return True
    return gap["mean"] > bound.rows[0]["lack_allowed"] if gap["low"] is None else gap["low"] > 0


def _share(lacks, gaps):
    """{"mean", "low", "high"} of the share of the gap that a method holds; None if it is unknown."""
    if not lacks or not gaps:
        return None
    lost, low, high = ratio_of_means(lacks, gaps)
    return {"mean": 1 - lost, "low": None if high is None else 1 - high, "high": None if low is None else 1 - low}


def _matches(method, share):
    if method.role == "bound" or not method.sound:
        return False
    lack = over_seeds(method.lacks)
    if lack is None or end_of(lack, "high") > method.rows[0]["lack_allowed"]:
        return False
    return share is None or end_of(share, "low") > 0.5


def _best_dense(controls, link):
    """The times of the dense control to beat; None if it is unknown."""
    if any(role not in controls or any("bucket_kib" not in row for row in controls[role].rows) for role in DENSE):
        return None
    return min((times for role in DENSE if None not in (times := controls[role].times(link))), key=sum, default=None)


def _pays(method, rates):
    """Below which rate of the link a method pays: {"where": "below", "nowhere" or "everywhere"; "rate_mbit_s" of "below"; "low" and
    "high", the ends of its 95 % interval, None with one seed}; None if that is unknown. Mean and interval over seeds are those of
    the logarithms of the seeds' rates. If not all seeds cross between two rates, the crossing is that of the mean speed-ups, and its
    interval ends where the ends of their intervals cross: 0 at no rate, infinite beyond the highest."""
    order = sorted(range(len(rates)), key=lambda link: rates[link])
    ascending = [rates[link] for link in order]
    speeds = [[row["over_links"][link]["speedup_vs_best_dense"] for link in order] for row in method.rows]
    if method.role != "method" or any(None in speed for speed in speeds):
        return None
    crossings = [last_rate_that_pays(ascending, speed) for speed in speeds]
    if all(0 < rate < math.inf for rate in crossings):
        rate, low, high = geometric_interval(crossings, method.compared)
    else:
        at_rates = [geometric_interval(some, method.compared) for some in zip(*speeds, strict=True)]
        rate, low, high = (None if None in ends else last_rate_that_pays(ascending, ends) for ends in zip(*at_rates, strict=True))
    where = "nowhere" if rate == 0 else "everywhere" if math.isinf(rate) else "below"
    return {"where": where, "rate_mbit_s": rate if where == "below" else None, "low": low, "high": high}


def _judge_link(methods, reference, link):
    """Sets the speed-ups of each seed, over link number `link` of several."""
    controls = {method.role: method for method in methods}
    fp32, dense = (reference.times(link), _best_dense(controls, link)) if reference else ([], None)
    for method in methods:
        reached = "target" not in method.rows[0] or 2 * method.at_target > len(method.rows)
        shown = method.rows[0]["quality_matched"] and reached
        for seed, (row, time) in enumerate(zip(method.rows, method.times(link), strict=True)):
            speeds = row if link is None else row["over_links"][link]
            speeds["speedup_vs_fp32"] = _over(fp32[seed], time) if shown else None
            speeds["speedup_vs_best_dense"] = _over(dense[seed], time) if shown and dense else None
            if "target" in row:
                times = [one["time_to_target_s"] for one in (reference.rows[seed], row)] if shown and link is None else (None, None)
                row["speedup_to_target"] = _over(*times)


def _aggregate(method, rates, share):
    """The row over all seeds."""
    first, speeds = method.rows[0], ("speedup_vs_fp32", "speedup_vs_best_dense")
    row = {key: first[key] for key in ("method", "method_canonical", "label", "model", "data", "metric", "quality_matched", "task_tells")
           if key in first}
    row |= {"name": f"{first['name']}/seeds", "run_type": "aggregate", "seeds": [one["seed"] for one in method.rows],
            "compared": method.compared,
            "step_time_ms_over_seeds": over_seeds([one["step_time_ms"]["mean"] for one in method.rows])}
    figures, ratios = ["test_quality", "lack", "wire_bytes"], [*speeds]
    row["gap_share_over_seeds"] = share
    if "target" in first:
        row["seeds_at_target"] = method.at_target
        figures += ["steps_to_target", "time_to_target_s", "wire_bytes_to_target"]
        ratios.append("speedup_to_target")
    row |= {f"{key}_over_seeds": over_seeds([one[key] for one in method.rows]) for key in figures}
    row |= {f"{key}_over_seeds": over_seeds([one[key] for one in method.rows], method.compared, geometric_interval) for key in ratios}
    if rates:
        row["pays"], row["over_links_over_seeds"] = _pays(method, rates), []
    for link, rate in enumerate(rates):
        values = {key: over_seeds([one["over_links"][link][key] for one in method.rows], method.compared, geometric_interval)
                  for key in speeds}
        row["over_links_over_seeds"].append({"rate_mbit_s": rate, "step_time_ms": over_seeds(method.times(link))} | values)
    return row


def _add_facts(found, tolerance):
    """Adds to the rows of a file of schema_version 2 the facts that it lacks. It says whether its fp32 learned enough, but not which
    quality is enough. `found`: {label: rows}; `tolerance`: the option of its job."""
    fp32 = {row["seed"]: row for row in found.get("fp32", ())}
    for row in (row for rows in found.values() for row in rows):
        own, reference = (one.get("test_quality") for one in (row, fp32.get(row["seed"], {})))
        accuracy, known = row["metric"] == "accuracy", None not in (own, reference)
        row["role"] = ("bound" if row["replica_hash_equal"] is None else row["method"] if row["method"] in DENSE else "method")
        row["lack"] = (reference - own if accuracy else math.log(own / reference)) if known else None
        row["lack_allowed"] = tolerance if accuracy else math.log1p(tolerance)
        row["reference_quality"] = own if row.get("quality_matched") else math.inf if accuracy else -math.inf


def judged(document):
    """The rows of a result file with what follows from them. Rows of trainings get `quality_matched`, `task_tells`, `gap_share`,
    `speedup_vs_fp32`, `speedup_vs_best_dense`, with a target `speedup_to_target`, and with several emulated links speed-ups over each
    and `pays`. If there are several seeds, a row over all of them follows for each method, of run_type "aggregate". Columns:
    docs/results-schema.md."""
    rows = [row for row in document["benchmarks"] if row.get("run_type") != "aggregate"]
    found = {}
    for row in rows:
        if "step_time_ms" in row and "test_quality" in row:
            found.setdefault(row["label"], []).append(row)
    if not found:
        return document["benchmarks"]
    if document["context"]["gradcomp"]["schema_version"] == 2:
        _add_facts(found, document["context"]["gradcomp"]["options"]["quality_tolerance"])
    methods = [_Method(some, document["context"]["gradcomp"]["ranks"]) for some in found.values()]
    compared = [method for method in methods if method.role == "method"]
    for method in compared:
        method.compared = len(compared)
    reference = next((method for method in methods if method.role == "fp32"), None)
    if reference and not _is_reference(reference):
        reference = None
    rates = [one["rate_mbit_s"] for one in methods[0].rows[0].get("over_links", ())]
    bound = next((method for method in methods if method.role == "bound"), None) if reference else None
    tells = _tells(bound) if bound else None
    gaps = bound.lacks if bound and tells else []
    shares = [_share(method.lacks, gaps) for method in methods]
    for method, share in zip(methods, shares, strict=True):
        matched = bool(reference) and tells is not False and _matches(method, share)
        for row in method.rows:
            row |= {"quality_matched": matched, "task_tells": tells,
                    "gap_share": share["mean"] if share and len(method.rows) == 1 else None}
    if tells is False:
        reference = None
    for link in range(len(rates)) if rates else [None]:
        _judge_link(methods, reference, link)
    for row in (row for method in methods for row in method.rows if rates):
        row |= {"speedup_vs_fp32": None, "speedup_vs_best_dense": None}
    for method in methods:
        if rates and len(method.rows) == 1:
            method.rows[0]["pays"] = _pays(method, rates)
    return rows + [_aggregate(method, rates, share) for method, share in zip(methods, shares, strict=True) if len(method.rows) > 1]
