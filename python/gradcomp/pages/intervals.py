"""Student's intervals in the tables of pages."""
import math

from gradcomp.output import text
from gradcomp.results.judge import mean_interval

TIMES = "step_times_ms"  # the single steps, which records keep where a page computes intervals from them


def shown_mean(samples, show=text.number):
    """The mean of samples with its 95 % interval, as text; one sample alone. A dash if one is missing, and for none. `show`: formats
    the mean."""
    if not samples or any(map(text.missing, samples)):
        return text.DASH
    if len(samples) < 2:
        return show(samples[0])
    mean, *ends = mean_interval(samples)
    return show(mean) + text.within(ends)


def ratio_interval(theirs, mine, compared=1):
    """The 95 % interval (low, high) of the ratio of two times, from both in each round: Student's, of the logarithms of the ratios.
    In a round, each method has one block of steps; the speed of a machine changes more from block to block than from step to
    step, so single steps are no independent samples. None for one round. `compared`: as in mean_interval()."""
    if len(mine) < 2:
        return None
    _, low, high = mean_interval([math.log(one / other) for one, other in zip(theirs, mine, strict=True)], compared)
    return math.exp(low), math.exp(high)


def sure(interval):
    """Whether a ratio is above 1, in a word, by its interval; empty without one."""
    if interval is None:
        return ""
    return "yes" if interval[0] > 1 else "no" if interval[1] < 1 else "open"


def spans(found):
    """By how much compression makes steps faster at each rate, least and most, from {Mbit/s: ratios}."""
    said = ", ".join(f"{text.ratio(min(ratios))} to {text.ratio(max(ratios))} over {rate:,.0f} Mbit/s" for rate, ratios in found.items())
    return f"Compression speeds a step up by {said}: the fastest compressed against the fastest dense method (*yes*: for certain)."
