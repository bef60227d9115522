"""The statistics: Mann and Whitney 1947, Holm 1979, bootstrap (Efron 1979)."""
import math
import zlib

import numpy as np
from scipy import stats


def slower(baseline, new):
    """One-sided p of the Mann-Whitney U test that `new` tends to be above `baseline`; exact for any number of samples. Ties
    between the arms count against the finding, so that p is an upper bound."""
    values = np.concatenate([new, baseline])
    order = np.lexsort((np.repeat([0, 1], [len(new), len(baseline)]), values))  # in a tie, `new` comes first: lower
    ranks = np.empty(len(values))
    ranks[order] = np.arange(len(values))
    return float(stats.mannwhitneyu(ranks[:len(new)], ranks[len(new):], alternative="greater", method="exact").pvalue)


def smallest_p(first, second):
    """The smallest possible p: that of arms that do not overlap."""
    return 1 / math.comb(first + second, first)


def holm(values):
    """The p values, corrected for their number (Holm 1979), in the same order."""
    adjusted, running = [0.0] * len(values), 0.0
    for rank, index in enumerate(sorted(range(len(values)), key=values.__getitem__)):
        running = max(running, min(1.0, (len(values) - rank) * values[index]))
        adjusted[index] = running
    return adjusted


def ratio(baseline, new):
    """Ratio of the medians: above 1 if `new` is slower."""
    return float(np.median(new) / np.median(baseline))


def _resampled(baseline, new, resamples, seed, name):
    """Ratios of the medians of arms drawn with replacement (Efron 1979), the same for the same seed and case."""
    random = np.random.default_rng([seed, zlib.crc32(name.encode())])
    medians = [np.median(random.choice(np.asarray(arm), (resamples, len(arm))), axis=1) for arm in (baseline, new)]
    return medians[1] / medians[0]


def interval(baseline, new, level, resamples, seed, name):
    """(low, high): percentile bootstrap of the ratio of the medians."""
    ratios = _resampled(baseline, new, resamples, seed, name)
    low, high = np.quantile(ratios, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def spread(first, second):
    """How far apart the medians of two arms of the same build are: larger / smaller - 1."""
    one, other = float(np.median(first)), float(np.median(second))
    return max(one, other) / min(one, other) - 1


def spread_bound(first, second, level, resamples, seed, name):
    """An upper bound of `spread` with probability `level`, by bootstrap: two medians may be close by chance."""
    ratios = _resampled(first, second, resamples, seed, name)
    return float(np.quantile(np.maximum(ratios, 1 / ratios), level)) - 1
