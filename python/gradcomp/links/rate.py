"""Rates of links."""
import dataclasses
import re

from gradcomp.errors import ReportError

UNITS = {"kbit": 1e3, "mbit": 1e6, "gbit": 1e9}
# A token bucket must hold more than one packet of 64 KiB, as the kernel forwards it, and what a fast link sends in 1 ms.
BUCKETS = ((20e6, "32kb", "50ms"), (500e6, "64kb", "20ms"), (2e9, "256kb", "10ms"), (float("inf"), "4mb", "10ms"))
LEAST, MOST = 1e6, 1e10


@dataclasses.dataclass(frozen=True)
class Rate:
    """The rate of each link in each direction."""

    bits: float  # per second

    @property
    def text(self):
        """The rate as --link of the programs takes it."""
        return f"{self.bits / 1e6:g}Mbit/s"

    @property
    def words(self):
        """The words for tc: rate, burst, and how long a packet may wait."""
        burst, latency = next(words for most, *words in BUCKETS if self.bits <= most)
        return [f"{self.bits:.0f}bit", burst, latency]


def parse(text):
    """Parses 100mbit, 1gbit, or 100Mbit/s as --link of the programs takes it. Throws ReportError."""
    found = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)(kbit|mbit|gbit)(/s)?", text.lower())
    bits = float(found[1]) * UNITS[found[2]] if found else 0
    if not LEAST <= bits <= MOST:
        raise ReportError(f"'{text}' is not the rate of a link; allowed: 1mbit to 10gbit, such as 100mbit")
    return Rate(bits)
