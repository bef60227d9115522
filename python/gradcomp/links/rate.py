"""Rates of links."""
import dataclasses
import re

from gradcomp.errors import ToolError

UNITS = {"kbit": 1e3, "mbit": 1e6, "gbit": 1e9}
# A token bucket fills while ranks compute, and what it holds then travels at no cost. So the links get the smallest bucket, in
# KiB, with which they carry their rate. The kernel cuts packets that are larger than the bucket.
BUCKETS = (6, 16, 32, 64, 128, 256, 1024, 4096)
LARGEST = ((20e6, 32, "50ms"), (500e6, 64, "20ms"), (2e9, 256, "10ms"), (float("inf"), 4096, "10ms"))
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
    def choices(self):
        """The words for tc, from the smallest bucket: rate, burst, and how long a packet may wait."""
        largest, latency = next((size, wait) for most, size, wait in LARGEST if self.bits <= most)
        return [[f"{self.bits:.0f}bit", f"{bucket}kb", latency] for bucket in BUCKETS if bucket <= largest]


def parse(text):
    """Parses 100mbit, 1gbit, or 100Mbit/s as --link of the programs takes it. Throws ToolError."""
    found = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)(kbit|mbit|gbit)(/s)?", text.lower())
    bits = float(found[1]) * UNITS[found[2]] if found else 0
    if not LEAST <= bits <= MOST:
        raise ToolError(f"'{text}' is not the rate of a link; allowed: 1mbit to 10gbit, such as 100mbit")
    return Rate(bits)
