"""Student's interval, for the tables of pages."""
import statistics

from scipy.stats import t as student


def mean_interval(samples, compared=1):
    """(mean, low, high) of at least two samples, with 95 %. The intervals of all `compared` means of a table hold together with 95 %
    (Bonferroni's correction)."""
    mean, quantile = statistics.fmean(samples), student.ppf(1 - 0.025 / compared, len(samples) - 1)
    half = quantile * statistics.stdev(samples) / len(samples) ** 0.5
    return mean, mean - half, mean + half
