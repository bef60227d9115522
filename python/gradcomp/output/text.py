"""Formats numbers and sentences for tables and captions."""
import math

DASH = "\N{EN DASH}"


def missing(value):
    """None and NaN are the same here: no value."""
    return value is None or (isinstance(value, float) and math.isnan(value))


def number(value, digits=3):
    """`digits` significant digits without exponent."""
    if missing(value):
        return DASH
    if value == 0:
        return "0"
    exponent = int(f"{value:.{digits - 1}e}".partition("e")[2])  # after rounding: 99.96 has that of 100
    return f"{value:,.{max(0, digits - 1 - exponent)}f}"


def size(count):
    """Bytes with a decimal prefix."""
    if missing(count):
        return DASH
    for unit in ("B", "kB", "MB", "GB"):
        if abs(count) < 999.5 or unit == "GB":
            break
        count /= 1000
    return f"{count:.0f} {unit}" if unit == "B" else f"{number(count)} {unit}"


def percent(fraction):
    """A fraction as per cent."""
    return DASH if missing(fraction) else f"{100 * fraction:.1f} %"


def quality(metric, value):
    """A value of quality; accuracies as per cent."""
    return percent(value) if metric == "accuracy" else number(value)


def diverged(rows):
    """That a method diverged, in words, from the row of its only seed or from those of all its seeds; empty if it did not."""
    steps = [row["diverged_at_step"] for row in rows if "diverged_at_step" in row]
    if len(rows) == 1 and steps:
        return f"diverged at step {steps[0]}"
    return f"diverged with {len(steps)} of {len(rows)} seeds" if steps else ""


def quality_of(row):
    """The test quality of a training, or when it diverged."""
    return diverged([row]) or quality(row["metric"], row["test_quality"])


def ratio(value):
    """A factor."""
    return DASH if missing(value) else f"{number(value)}\N{MULTIPLICATION SIGN}"


WIDEST = 3  # high / low of an interval whose figure is still shown
UNMEASURED = "not measured well enough"


def within(interval, show=number):
    """The ends of an interval, to follow its mean; empty without an interval."""
    return f" ({show(interval[0])} to {show(interval[1])})" if interval else ""


def measured(mean, low=None, high=None, *, show=number):
    """A quantity that is not negative, with its interval if it has one; UNMEASURED if the interval spans more than WIDEST."""
    if missing(low) or missing(mean):
        return show(mean)
    if low < high and not 0 < high <= WIDEST * low:
        return UNMEASURED
    return show(mean) + within((low, high), number if show is ratio else show)


def crossover(at):
    """Words that say from which size on a method is faster than the best dense control."""
    if at is None:
        return "does not beat the best dense control at the largest size measured"
    if at == 0:
        return "beats the best dense control at every size measured"
    return f"beats the best dense control from about {size(at)} of gradient on"


def listed(words):
    """Words as a list in a sentence: a, b and c."""
    *most, last = words
    return f"{', '.join(most)} and {last}" if most else last
