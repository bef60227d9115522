"""What the decoders of this folder share: bit strings, random numbers, and the parts of a bucket."""
import math
from dataclasses import dataclass, field

import numpy as np

f32 = np.float32
EVERY_RANK = 0xFFFFFFFF
SELECTION, LOW_RANK, SKETCH, ROTATION = 1, 2, 5, 6  # kernels/random/threefry.hpp


@dataclass
class Segment:
    """One tensor of a bucket."""
    id: int
    offset: int
    shape: tuple
    outputs_first: bool = False

    @property
    def count(self):
        return math.prod(self.shape)

    @property
    def place(self):
        return slice(self.offset, self.offset + self.count)

    @property
    def columns(self):
        return self.shape[-1] if self.shape else 1

    @property
    def rows(self):
        return self.count // self.columns if self.columns else 0


@dataclass
class Sent:
    """All messages of a step, rank by rank, and what every receiver knows without them."""
    method: str
    options: str
    feedback: str
    segments: list
    messages: list
    seed: int
    step: int
    memory: dict = field(default_factory=dict)  # what receivers keep for the next step (powersgd)

    @property
    def count(self):
        return sum(s.count for s in self.segments)

    @property
    def share(self):
        return f32(1) / f32(len(self.messages))


class Reader:
    """Takes arrays from the front of some bytes."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, dtype, count):
        found = np.frombuffer(self.data, dtype, count, self.at)
        self.at += found.nbytes
        return found

    def to_words(self):
        """Skips the padding of a section to whole words."""
        self.at += -self.at % 4

    def at_end(self):
        return self.at == len(self.data)


def fields(data, width, count):
    """Unsigned fields of `width` bits from a bit string, least significant bit first (kernels/pack/bit_fields.hpp)."""
    bits = np.unpackbits(np.frombuffer(data.tobytes(), np.uint8), bitorder="little")[:width * count]
    return bits.reshape(count, width).astype(np.int64) @ (1 << np.arange(width, dtype=np.int64))


def take_fields(data, width, count):
    """Fields in whole words."""
    return fields(data.take("<u4", (width * count + 31) // 32), width, count)


def block_codes(bits):
    """Codes in a vertical block (kernels/pack/bit_pack.hpp)."""
    return 32 * 32 // math.gcd(32, bits)


def vertical(words, bits):
    """Codes of whole vertical blocks: the bit string of every lane holds one code of each row."""
    rows = block_codes(bits) // 32
    strings = words.reshape(-1, bits * rows // 32, 32).transpose(0, 2, 1)
    return fields(strings, bits, strings.size * 32 // bits).reshape(-1, 32, rows).transpose(0, 2, 1).ravel()


def take_codes(data, segments, bits):
    """The codes of all segments: whole blocks of all, then the bit strings behind them (quantise/code_pieces.hpp)."""
    whole = [s.count // block_codes(bits) * block_codes(bits) for s in segments]
    blocks = [vertical(data.take("<u4", n * bits // 32), bits) for n in whole]
    rest = [s.count - n for s, n in zip(segments, whole, strict=True)]
    tails = [fields(data.take("u1", (n * bits + 7) // 8), bits, n) for n in rest]
    return [np.concatenate(pair) for pair in zip(blocks, tails, strict=True)]


def take_signs(data, count):
    """Sign bits of one run: whole vertical blocks, then a bit string in whole words (kernels/pack/signs.hpp)."""
    whole = count // 1024 * 1024
    return np.concatenate([vertical(data.take("<u4", whole // 32), 1), take_fields(data, 1, count - whole)])


def group_sizes(segments, length):
    """Elements of every group; length 0: every segment that is not empty is a group (quantise/groups.hpp)."""
    sizes = []
    for s in segments:
        step = length or max(s.count, 1)
        sizes += [min(step, s.count - at) for at in range(0, s.count, step)]
    return sizes


def threefry(key, counter):
    """Threefry4x32 with 12 rounds (kernels/random/threefry.hpp); `counter`: four arrays."""
    rotations = ((10, 26), (11, 21), (13, 27), (23, 5), (6, 20), (17, 11), (25, 10), (18, 20))
    schedule = [*key, 0x1BD11BDA ^ key[0] ^ key[1] ^ key[2] ^ key[3]]
    x = [(np.asarray(c, np.uint64) + k) & 0xFFFFFFFF for c, k in zip(counter, schedule, strict=False)]
    for turn in range(12):
        for (a, b), bits in zip(((0, 1), (2, 3)) if turn % 2 == 0 else ((0, 3), (2, 1)), rotations[turn % 8],
                                strict=True):
            x[a] = (x[a] + x[b]) & 0xFFFFFFFF
            x[b] = ((x[b] << bits | x[b] >> (32 - bits)) & 0xFFFFFFFF) ^ x[a]
        if turn % 4 == 3:
            n = turn // 4 + 1
            x = [(x[i] + schedule[(n + i) % 5] + (n if i == 3 else 0)) & 0xFFFFFFFF for i in range(4)]
    return x


def stream_key(seed, segment, step, rank):
    mask = 2**64 - 1
    x = (seed + 0x9E3779B97F4A7C15) & mask
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 & mask
    x = (x ^ x >> 27) * 0x94D049BB133111EB & mask
    x = x ^ x >> 31 ^ segment
    return [x & 0xFFFFFFFF, x >> 32, step & 0xFFFFFFFF, step >> 32 ^ rank]


def draw(key, elements, stream, number):
    """The draws of `elements`, an array of indices inside the segment."""
    elements = np.asarray(elements, np.uint64)
    same = np.zeros_like(elements)
    return threefry(key, [elements & 0xFFFFFFFF, elements >> 32, same + stream, same + number])


def random_below(bits, limit):
    """kernels/random/random_subset.hpp"""
    return (bits[0] * limit + (bits[1] * limit >> 32)) >> 32


def target_kept(ratio, count):
    """k of a segment (docs/concepts.md, Target density)."""
    return max(1, math.floor(float(ratio) * count)) if count else 0


def largest(values, count):
    """Ascending indices of the `count` largest magnitudes; ties go to the lower index."""
    return np.sort(np.argsort(-np.abs(values), kind="stable")[:count])


def bfloat(codes):
    return (codes.astype(np.uint32) << 16).view(f32)


def blocks_of(options, segments):
    """Of every segment: its length of a block, its number of blocks, and how many of them it sends."""
    for s in segments:
        length = min(int(options["block"]), s.count)
        blocks = -(-s.count // length) if length else 0
        yield s, length, blocks, target_kept(options["ratio"], blocks)


def scattered_blocks(segments, options, chosen, values):
    """block_top_k: values of the blocks `chosen`, which are counted through the bucket."""
    out, first, at, value = np.zeros(sum(s.count for s in segments), f32), 0, 0, 0
    for s, length, blocks, k in blocks_of(options, segments):
        here = np.zeros(blocks * length, f32)
        if k:
            here.reshape(blocks, length)[chosen[at:at + k] - first] = values[value:value + k * length].reshape(k, length)
        out[s.place] = here[:s.count]
        first, at, value = first + blocks, at + k, value + k * length
    return out


def subset(segment, count, key):
    """Indices that random_k draws from a segment, in the order of its message (kernels/random/random_subset.hpp)."""
    n = segment.count
    if count == 0:
        return np.zeros(0, int)
    shift = int(random_below([int(x) for x in draw(key, 0, SELECTION, 1)], n))
    edges = np.arange(count + 1, dtype=np.uint64) * n // count
    at = edges[:-1] + random_below(draw(key, np.arange(count), SELECTION, 0), np.diff(edges)) + shift
    return segment.offset + (at % n).astype(int)


def scattered_subsets(sent, options, segments, rank, values):
    """random_k: `values` at the elements that `rank` draws, times n / k if they are to be unbiased."""
    out, at = np.zeros(sent.count, f32), 0
    for s in segments:
        k = target_kept(options["ratio"], s.count)
        scale = s.count / k if options["scale"] == "unbiased" and k else 1
        out[subset(s, k, stream_key(sent.seed, s.id, sent.step, rank))] = values[at:at + k] * f32(scale)
        at += k
    return out
