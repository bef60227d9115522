"""Below which rate of the link a method pays: the answer of several emulated links in words, with its interval."""
import math

from gradcomp.output import text


def words(found, gains, doubt):
    """The answer of the column `pays`. `gains`: [(rate, speed-up with its interval)]; `doubt`: what is said where there is no
    interval."""
    ends = None if found["low"] is None else (found["low"], found["high"])
    if found["where"] == "below":
        return f"pays below {text.number(found['rate_mbit_s'])} Mbit/s ({_between(ends, gains) if ends else doubt})"
    start = "pays at no rate swept" if found["where"] == "nowhere" else "pays at every rate swept"
    if not ends:
        return f"{start} ({doubt})"
    return start + (_perhaps(ends[1], gains) if found["where"] == "nowhere" else _certain(ends[0], gains))


def _between(ends, gains):
    """An interval that may begin below all rates swept and end beyond them."""
    (low, high), rates = ends, [rate for rate, _ in gains]
    return (f"{text.number(low) if low else f'less than {text.number(min(rates))}'} to "
            f"{f'beyond {text.number(max(rates))}' if math.isinf(high) else text.number(high)}")


def _perhaps(high, gains):
    """Where a method may pay that pays nowhere by its mean."""
    if high == 0:
        return ""
    if math.isinf(high):
        return f", open at {'every rate' if all(gain['high'] > 1 for _, gain in gains) else 'some rates'}"
    return f", perhaps below {text.number(high)} Mbit/s"


def _certain(low, gains):
    """Where a method pays for certain that pays everywhere by its mean."""
    if all(gain["low"] > 1 for _, gain in gains):
        return ""
    where = "at none" if low == 0 else "at some" if math.isinf(low) else f"below {text.number(low)} Mbit/s"
    return f" by its mean, for certain {where}"
