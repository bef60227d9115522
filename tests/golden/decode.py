"""Decodes what every method sends, with NumPy, from bytes and specs alone.

This is a second implementation of the formats that docs/concepts.md (Payload) and the first lines of each method's
source describe. It reads what senders write and does not defend itself against other bytes. decode_sums.py has the
methods whose messages are summed.

    mean_of(sent)     the mean of the ranks' gradients from all their messages of a step; None if a rank flagged its own
    METHODS, SUMMED   the methods that it knows
"""
from dataclasses import dataclass

import numpy as np

from decode_sums import SUMMED, Sums
from payload_parts import (
    EVERY_RANK,
    ROTATION,
    Reader,
    Segment,
    Sent,
    bfloat,
    blocks_of,
    draw,
    f32,
    fields,
    group_sizes,
    scattered_blocks,
    scattered_subsets,
    stream_key,
    take_codes,
    take_fields,
    take_signs,
)

DIVERGED, HUFFMAN, ELIAS = 1, 2, 4  # flags of a header
HEADER = np.dtype([("magic", "<u4"), ("version", "<u2"), ("method", "<u2"), ("elements", "<u8"), ("kept", "<u8"),
                   ("flags", "<u4"), ("spec", "<u4")])


@dataclass
class Part:
    """A message, or the part of it that belongs to one method of a composition."""
    options: dict
    segments: list
    kept: int
    flags: int
    data: Reader
    sent: Sent

    @property
    def count(self):
        return sum(s.count for s in self.segments)

    def number(self, name):
        return int(self.options[name])


# ---- Coders of sparse payloads (src/gradcomp/coders)


def index_delta(data, _elements, kept):
    gaps = []
    for _ in range(kept):
        value, shift, byte = 0, 0, 0x80
        while byte & 0x80:
            byte = int(data.take("u1", 1)[0])
            value |= (byte & 0x7F) << shift
            shift += 7
        gaps.append(value)
    data.to_words()
    return np.cumsum(np.array(gaps) + 1) - 1


def take_ones(data, count):
    """Positions of the `count` ones of a bit vector that ends with the word of the last one."""
    bits = np.unpackbits(np.frombuffer(data.data, np.uint8, -1, data.at), bitorder="little")
    ones = np.flatnonzero(bits)[:count]
    data.take("<u4", ones[-1] // 32 + 1)
    return ones


def index_rice(data, elements, kept):
    width = 0
    while width < 31 and 2 ** (width + 1) * 2 * kept * 512 <= (2 * elements - kept) * 493:
        width += 1
    rest = take_fields(data, width, kept)
    quotients = take_ones(data, kept) - np.arange(kept)  # zeros before each one, in all
    gaps = np.diff(quotients, prepend=0) << width | rest
    return np.cumsum(gaps + 1) - 1


def index_elias_fano(data, elements, kept):
    def words(width):
        return (kept * width + 31) // 32 + (kept + (elements - 1 >> width) + 31) // 32
    width = min(range(32), key=words)  # the first of the smallest
    low = take_fields(data, width, kept)
    upper = take_fields(data, 1, kept + (elements - 1 >> width))
    return (np.flatnonzero(upper) - np.arange(kept)) << width | low


INDEX_CODERS = [
    lambda data, _elements, kept: data.take("<u4", kept).astype(np.int64),  # u32
    lambda data, elements, kept: take_fields(data, (elements - 1).bit_length(), kept),  # packed
    lambda data, elements, _kept: np.flatnonzero(take_fields(data, 1, elements)),  # bitmap
    index_delta, index_rice, index_elias_fano,
]


def value_int8(data, kept):
    scales = np.repeat(data.take("<f4", (kept + 255) // 256), 256)[:kept]
    values = data.take("i1", kept).astype(f32) * scales
    data.to_words()
    return values


def padded(data, values):
    data.to_words()
    return values


VALUE_CODERS = [
    lambda data, kept: data.take("<f4", kept),
    lambda data, kept: padded(data, data.take("<f2", kept).astype(f32)),
    lambda data, kept: padded(data, bfloat(data.take("<u2", kept))),
    value_int8,
]


def take_indices(part):
    """The first section of a sparse payload (coders/sparse_payload.hpp)."""
    coder = INDEX_CODERS[part.flags >> 8 & 15]
    return coder(part.data, part.count, part.kept) if part.kept else np.zeros(0, np.int64)


def scattered(part, indices, values):
    assert np.all(np.diff(indices) > 0)
    out = np.zeros(part.count, f32)
    out[indices] = values
    return out


def sparse(part):
    """top_k and all others that send entries with their values."""
    indices = take_indices(part)
    return scattered(part, indices, VALUE_CODERS[part.flags >> 12 & 15](part.data, part.kept))


def hybrid(part, coder, coder_options):
    """SPARSIFIER+CODER (compressors/composition/hybrid.hpp)."""
    indices, scale = take_indices(part), part.data.take("<f4", 1)[0]
    values = Part(coder_options, [Segment(0, 0, (part.kept,))], part.kept, 0, part.data, part.sent)
    return scattered(part, indices, scale * METHODS[coder](values))


def quanta(part):
    """strom, adaptive_threshold (detail/sparse/quanta.hpp)."""
    per_segment = "ratio_min" in part.options
    taus = part.data.take("<f4", len(part.segments) if per_segment else 1)
    words = part.data.take("<u4", part.kept)
    numbers = f32(1)
    if part.options["quanta"] == "multi":
        numbers = padded(part.data, part.data.take("<u2", part.kept)).astype(f32)
    ends = np.array([s.place.stop for s in part.segments], int)
    size = numbers * (taus[np.searchsorted(ends, words >> 1, side="right")] if per_segment else taus[0])
    return scattered(part, words >> 1, np.where(words & 1, -size, size))


def dryden(part):
    table = part.data.take(np.dtype("<f4, <f4, <u4"), len(part.segments))
    ends = np.array([s.place.stop for s in part.segments], int)
    positives = int(table["f2"].sum())
    out = np.zeros(part.count, f32)
    for column, count in (("f0", positives), ("f1", part.kept - positives)):
        indices = part.data.take("<u4", count)
        out[indices] = table[column][np.searchsorted(ends, indices, side="right")]
    return out


def block_top_k(part):
    """mask=private"""
    sizes = [(k, k * length) for _, length, _, k in blocks_of(part.options, part.segments)]
    chosen = part.data.take("<u4", sum(k for k, _ in sizes))
    return scattered_blocks(part.segments, part.options, chosen, part.data.take("<f4", sum(n for _, n in sizes)))


def random_k(part):
    """seed=private"""
    rank = int(part.data.take("<u4", 1)[0])
    return scattered_subsets(part.sent, part.options, part.segments, rank, part.data.take("<f4", part.kept))


# ---- Quantisers


def levels_of(part):
    return part.number("levels") or 2 ** (part.number("bits") - 1) - 1


def linear(codes, scale, levels):
    """Codes 0, -1, +1, -2, +2, .. levels of scale (LinearCodec in quantise/codecs.hpp)."""
    size = (codes + 1) // 2
    return np.where(codes % 2, -size, size).astype(f32) * (scale / f32(levels))


def powers(codes, scale, levels):
    """The same for powers of two of scale (PowerDitherCodec)."""
    size = np.where(codes % 2, -scale, scale) * np.exp2((codes + 1) // 2 - levels).astype(f32)
    return np.where(codes == 0, f32(0), size)


def dithered(part, value, levels, length, elias):
    """qsgd, linear_dithering, natural_dithering, terngrad:code=2bit: scales of all groups, then codes."""
    sizes = group_sizes(part.segments, length)
    scales = np.repeat(part.data.take("<f4", len(sizes)), sizes)
    if part.flags & ELIAS:
        codes = elias_codes(part, length, elias)
    else:
        codes = np.concatenate([np.zeros(0, int), *take_codes(part.data, part.segments, (2 * levels).bit_length())])
    return value(codes, scales, levels)


def elias_omega(bits):
    """The next integer, or 0 at the end of the stream (kernels/pack/elias.hpp)."""
    k, more = 1, next(bits, None)
    if more is None:
        return 0
    while more:
        group = 1
        for _ in range(k):
            group = group << 1 | next(bits)
        k, more = group, next(bits)
    return k


def elias_delta(bits):
    zeros, length, k = 0, 1, 1
    while not (bit := next(bits, None)):
        if bit is None:
            return 0
        zeros += 1
    for _ in range(zeros):
        length = length << 1 | next(bits)
    for _ in range(length - 1):
        k = k << 1 | next(bits)
    return k


def elias_codes(part, length, code):
    """The codes of fixed width from gaps and levels (kernels/pack/elias.hpp)."""
    sizes = group_sizes(part.segments, length or 4096)
    streams = []
    counts = part.data.take("<u4", len(sizes))
    for size, count in zip(sizes, counts, strict=True):
        codes, at = np.zeros(size, int), -1
        bits = iter(take_fields(part.data, 1, int(count)).tolist())
        while (gap := code(bits)) > 0:
            at, negative = at + gap, next(bits)
            codes[at] = 2 * code(bits) - negative
        streams.append(codes)
    return np.concatenate([np.zeros(0, int), *streams])


def group_length(part):
    return 0 if part.options["group"] == "tensor" else part.number("group")


def qsgd(part):
    return dithered(part, linear, levels_of(part), group_length(part), elias_omega)


def linear_dithering(part):
    return dithered(part, linear, levels_of(part), group_length(part), elias_delta)


def natural_dithering(part):
    return dithered(part, powers, levels_of(part), group_length(part), elias_delta)


def terngrad(part):
    """code=2bit, base3"""
    if part.options["code"] == "2bit":
        return dithered(part, linear, 1, 0, None)
    sizes = group_sizes(part.segments, 0)
    scales = part.data.take("<f4", len(sizes))
    out = [np.zeros(0, f32)]
    for scale, size in zip(scales, sizes, strict=True):  # kernels/pack/base3.hpp
        digits = part.data.take("u1", (size + 4) // 5)[:, None] // 3 ** np.arange(5) % 3
        out.append(np.array([0, -1, 1], f32)[digits.ravel()[:size]] * scale)
    return np.concatenate(out)


def max_min(part):
    sizes = group_sizes(part.segments, group_length(part))
    low, high = np.repeat(part.data.take("<f4", 2 * len(sizes)).reshape(-1, 2), sizes, axis=0).T
    codes = np.concatenate([np.zeros(0, int), *take_codes(part.data, part.segments, part.number("bits"))])
    t = codes.astype(f32) / f32(2 ** part.number("bits") - 1)
    return low * (1 - t) + high * t


def natural(part):
    bits = part.number("bits")
    codes = np.concatenate([np.zeros(0, int), *take_codes(part.data, part.segments, bits)])
    level, negative = codes & (1 << bits - 1) - 1, codes >> bits - 1
    size = np.exp2(level - (109.0 if bits == 8 else 127.0)).astype(f32)
    return np.where(level == 0, f32(0), np.where(negative, -size, size))


def int8_block(part):
    sizes = group_sizes(part.segments, part.number("block"))
    scales = np.repeat(part.data.take("<f4", len(sizes)), sizes)
    return part.data.take("i1", part.count).astype(f32) * scales


def float8(mantissa, bias):
    """E4M3 and E5M2 (kernels/quantise/float8.hpp), divided by the scale of the segment."""
    def decode(part):
        scales = np.repeat(part.data.take("<f4", len(part.segments)), [s.count for s in part.segments])
        codes = part.data.take("u1", part.count).astype(int)
        exponent, fraction = codes >> mantissa & (1 << 7 - mantissa) - 1, codes & (1 << mantissa) - 1
        size = np.where(exponent == 0, fraction, fraction + (1 << mantissa)) * np.exp2(
            np.maximum(exponent, 1) - bias - float(mantissa))
        return np.where(codes & 0x80, -size, size).astype(f32) * (1 / scales)
    return decode


def sign(part):
    """sign, signum"""
    return np.where(take_signs(part.data, part.count), f32(-1), f32(1))


def ef_sign(part):
    scales = part.data.take("<f4", len(part.segments))
    signs = [np.where(take_signs(part.data, s.count), -x, x) for s, x in zip(part.segments, scales, strict=True)]
    return np.concatenate([np.zeros(0, f32), *signs])


def one_bit(part):
    matrices = [s for s in part.segments if len(s.shape) >= 2 and s.columns > 3]
    columns = [slice(at, at + s.columns) for s in matrices for at in range(s.offset, s.place.stop, s.columns)]
    levels = part.data.take("<f4", 2 * len(columns)).reshape(-1, 2)
    out = np.zeros(part.count, f32)
    for s in part.segments:
        if s not in matrices:
            out[s.place] = part.data.take("<f4", s.count)
    for place, (lower, upper) in zip(columns, levels, strict=True):
        out[place] = np.where(take_signs(part.data, place.stop - place.start), lower, upper)
    return out


def hadamard(x):
    """Walsh-Hadamard transform, not normalised; f32 sums in the order of ascending strides."""
    half = 1
    while half < len(x):
        pairs = x.reshape(-1, 2, half)
        x = np.stack([pairs[:, 0] + pairs[:, 1], pairs[:, 0] - pairs[:, 1]], axis=1).ravel()
        half *= 2
    return x


def rotated(part):
    """kernels/sketch/hadamard.hpp"""
    bits, length = part.number("bits"), part.number("group")
    groups = [(s, at, min(length, s.count - at)) for s in part.segments for at in range(0, s.count, length)]
    scales = part.data.take("<f4", len(groups))
    out = np.zeros(part.count, f32)
    for (s, at, size), scale in zip(groups, scales, strict=True):
        padded_size = max(32, 1 << (size - 1).bit_length())
        words = part.data.take("<u4", padded_size // 32 * bits)
        rows = np.unpackbits(words.view(np.uint8), bitorder="little").reshape(-1, bits, 32).astype(int)
        codes = (rows << np.arange(bits)[:, None]).sum(axis=1).ravel()
        y = hadamard(codes.astype(f32) * (f32(2) / f32(2**bits - 1)) - f32(1))
        key = stream_key(part.sent.seed, s.id, part.sent.step, EVERY_RANK)
        signs = np.stack(draw(key, np.arange(at, at + padded_size, 128), ROTATION, 0), axis=1).astype("<u4").ravel()
        negated = fields(signs, 1, 32 * len(signs))[:padded_size]
        y = np.where(negated, -y, y)[:size] * scale
        out[s.offset + at:][:size] = np.clip(y, -(2.0**127), 2.0**127).astype(f32)
    return out


# ---- Low rank


def atomo(part):
    rank, matrices, raw = part.number("rank"), [], []
    for s in part.segments:
        rows, columns = 0, 0  # detail/low_rank/spectrum.hpp
        if len(s.shape) == 1 and s.count % 2 == 0:
            rows, columns = s.count // 2, 2
        elif len(s.shape) >= 2 and s.count:
            inner = s.shape[-2] * s.shape[-1]
            places = s.count // inner
            rows, columns = (s.shape[-2:] if places == 1 else
                             (2 * places, inner // 2) if inner % 2 == 0 else (places, inner))
        if 0 < min(rows, columns) <= 512 and rank * (rows + columns + 1) < s.count:
            matrices.append((s, rows, columns))
        else:
            raw.append(s)
    counts = part.data.take("<u4", len(matrices))
    out = np.zeros(part.count, f32)
    for s in raw:
        out[s.place] = part.data.take("<f4", s.count)
    for (s, rows, columns), terms in zip(matrices, counts, strict=True):
        total = np.zeros((rows, columns), f32)
        for weight, *term in part.data.take("<f4", terms * (1 + rows + columns)).reshape(terms, 1 + rows + columns):
            total += np.outer(weight * np.array(term[:rows], f32), np.array(term[rows:], f32))
        out[s.place] = total.ravel()
    return out


# ---- Whole messages


def huffman(data):
    """coders/huffman.hpp"""
    count = int(data.take("<u8", 1)[0])
    lengths = fields(data.take("u1", 128), 4, 256)
    codes, code, length = {}, 0, 0
    for symbol in sorted(np.flatnonzero(lengths), key=lambda s: (lengths[s], s)):
        code <<= int(lengths[symbol]) - length
        length = int(lengths[symbol])
        codes[length, code] = symbol
        code += 1
    ends = data.take("<u4", (count + 4095) // 4096)
    symbols = []
    for c, words in enumerate(np.diff(ends, prepend=np.uint32(0))):
        bits = iter(take_fields(data, 1, 32 * int(words)).tolist())
        for _ in range(min(4096, count - 4096 * c)):
            code, length = next(bits), 1
            while (length, code) not in codes:
                code, length = code << 1 | next(bits), length + 1
            symbols.append(codes[length, code])
    return Reader(bytes(symbols))


def text_hash(text):
    """32-bit FNV-1a."""
    value = 2166136261
    for byte in text.encode():
        value = (value ^ byte) * 16777619 & 0xFFFFFFFF
    return value


def stages_of(method, options):
    """[(name, options)] of the parts of a method."""
    text = options.split("parts=")[-1] if "+" in method else f"{method}:{options}"
    parts = [part.split(":") for part in text.split("+")]
    return [(name, dict(option.split("=", 1) for option in words if option)) for name, *words in parts]


def values_of(sent, message):
    """What receivers decode from the payload of one rank; None if it is flagged."""
    head = np.frombuffer(message, HEADER, 1)[0]
    assert head["magic"].tobytes() == b"!GCP" and head["version"] == 1
    assert head["method"] == text_hash(sent.method) & 0xFFFF and head["spec"] == text_hash(sent.options)
    assert head["elements"] == sent.count
    flags, data = int(head["flags"]), Reader(message[32:])
    if flags & DIVERGED:  # sections of a fixed size may follow, which nobody reads
        assert flags == DIVERGED
        return None
    stages = stages_of(sent.method, sent.options)
    if stages[-1][0] == "huffman":
        stages.pop()
        inner = huffman(data) if flags & HUFFMAN else data
        assert inner is data or data.at_end()
        data = inner
    name, options = stages[0]
    part = Part(options, sent.segments, int(head["kept"]), flags, data, sent)
    values = METHODS[name](part) if len(stages) == 1 else hybrid(part, *stages[1])
    assert data.at_end(), f"{len(data.data) - data.at} bytes follow"
    return values


def mean_of(sent):
    """The mean over the ranks [elements]. None: a rank flagged its message, or nothing travels."""
    (name, options), *_ = stages_of(sent.method, sent.options)
    own_choice = (options.get("mask"), options.get("seed"), options.get("code"))
    if name in SUMMED and not {"private", "2bit", "base3"} & set(own_choice):
        sums = Sums(sent, options)
        mean = SUMMED[name](sums)
        assert sums.diverged or all(reader.at_end() for reader in sums.readers)
        return None if sums.diverged else mean
    mean = np.zeros(sent.count, f32)
    for message in sent.messages:
        values = values_of(sent, message)
        if values is None:
            return None
        mean += sent.share * values
    return mean


METHODS = {
    "adaptive_threshold": quanta, "atomo": atomo, "block_top_k": block_top_k, "dgc": sparse, "dryden": dryden,
    "ef_sign": ef_sign, "fp8_e4m3": float8(3, 7), "fp8_e5m2": float8(2, 15), "gaussian_k": sparse,
    "gradient_dropping": sparse, "hard_threshold": sparse, "int8_block": int8_block,
    "linear_dithering": linear_dithering, "max_min": max_min, "natural": natural,
    "natural_dithering": natural_dithering, "one_bit": one_bit, "qsgd": qsgd, "random_k": random_k, "redsync": sparse,
    "rotated": rotated, "sidco": sparse, "sign": sign, "signum": sign, "strom": quanta, "terngrad": terngrad,
    "top_k": sparse,
}
