"""Bisection over commits of which some cannot be tested."""


def search(count, test):
    """[first, ..., last]: the places among 0 to count - 1 where the first bad one may be; more than one only where those
    before the last could not be tested. What lies before 0 is good, and count - 1 is bad. `test`(place) is True for bad,
    False for good, None for what cannot be tested; it is called for about log2(count) places."""
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
