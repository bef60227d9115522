"""Below which rate of the link a method pays: the answer of several emulated links in words, with its interval."""
import math

from gradcomp.output import text


def last_rate_that_pays(rates, speedups):
    """The rate at which a speed-up falls below 1 as the link gets faster: `speedups` at the ascending `rates`, with logarithms
    interpolated between two rates. Of several such rates the highest counts. Infinity if the speed-up is above 1 at the highest
    rate, 0 if it is above 1 at no rate. A speed-up of 0 or less (the lower end of an interval) puts the crossing at the rate before
    it. As in src/gradcomp/train/crossover.cpp."""
    last = max((place for place, speedup in enumerate(speedups, 1) if speedup > 1), default=0)
    if last == 0:
        return 0.0
    if last == len(rates):
        return math.inf
    if speedups[last] <= 0:
        return rates[last - 1]
    above, below = math.log(speedups[last - 1]), math.log(speedups[last])
    return rates[last - 1] * (rates[last] / rates[last - 1]) ** (above / (above - below))


def interval(found, gains):
    """The ends of the 95 % interval of the rate: those of the column `found`, or the rates at which the ends of the intervals of the
    speed-ups cross 1. None without intervals. `gains`: [(rate, speed-up with its interval)]."""
    if found["low"] is not None:
        return found["low"], math.inf if found["high"] is None else found["high"]
    if any(gain is None or gain["low"] is None for _, gain in gains):
        return None
    swept = sorted(gains, key=lambda pair: pair[0])
    return tuple(last_rate_that_pays([rate for rate, _ in swept], [gain[end] for _, gain in swept]) for end in ("low", "high"))


def words(found, gains, doubt):
    """The answer of the column `found`. `gains`: as in interval(); `doubt`: what is said where there is no interval."""
    ends = interval(found, gains)
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
