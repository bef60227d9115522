"""Student's intervals in the tables of pages."""
from gradcomp.output import text
from gradcomp.results.judge import geometric_interval, mean_interval

TIMES = "step_times_ms"  # the single steps, which records keep where a page computes intervals from them


def shown_mean(samples, show=text.number):
    """The mean of samples with its 95 % interval, as text; one sample alone. A dash if one is missing, and for none. `show`: formats
    the mean."""
    return text.DASH if not samples or any(map(text.missing, samples)) else text.measured(*mean_interval(samples), show=show)


def ratio_of(theirs, mine, *, compared=1):
    """(ratio, low, high) of two times, from both in each round, by geometric_interval(). In a round, each method has one block of
    steps; the speed of a machine changes more from block to block than from step to step, so single steps are no independent samples.
    low and high are None with one round. `compared`: as in mean_interval()."""
    return geometric_interval([one / other for one, other in zip(theirs, mine, strict=True)], compared)


def sure(_, low, high):
    """Whether a ratio_of() is above 1, in a word, by its interval; empty without one."""
    return "" if low is None else "yes" if low > 1 else "no" if high < 1 else "open"


def spans(found):
    """By how much compression makes steps faster at each rate, least and most, from {Mbit/s: ratios}."""
    said = ", ".join(f"{text.ratio(min(ratios))} to {text.ratio(max(ratios))} over {rate:,.0f} Mbit/s" for rate, ratios in found.items())
    return f"Compression speeds a step up by {said}: the fastest compressed against the fastest dense method (*yes*: for certain)."
