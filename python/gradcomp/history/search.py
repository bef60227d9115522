"""Bisection over commits, some of which cannot be tested."""


def search(count, test):
    """[first, ..., last]: the places among 0 to count - 1 where the first bad commit may be. There are several only if those
    before the last cannot be tested. The commit before place 0 is good, and that at count - 1 is bad. `test`(place) is True for
    bad, False for good, and None if the commit cannot be tested. It is called for about log2(count) places."""
    low, high, untested = -1, count - 1, set()
    while True:
        left = [place for place in range(low + 1, high) if place not in untested]
        if not left:
            return list(range(low + 1, high + 1))
        place = min(left, key=lambda one: abs(2 * one - low - high))
        bad = test(place)
        if bad is None:
            untested.add(place)
        elif bad:
            high = place
        else:
            low = place
