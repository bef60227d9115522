"""Decodes the methods whose messages are summed over the ranks. Part of decode.py, which says what this is."""
import math
from dataclasses import dataclass

import numpy as np

from payload_parts import (
    EVERY_RANK,
    LOW_RANK,
    SKETCH,
    Reader,
    Segment,
    Sent,
    bfloat,
    blocks_of,
    draw,
    f32,
    fields,
    group_sizes,
    largest,
    random_below,
    scattered_blocks,
    scattered_subsets,
    stream_key,
    target_kept,
)


@dataclass
class Sums:
    """Reads the rounds of all ranks and reduces them."""
    sent: Sent
    options: dict

    def __post_init__(self):
        self.readers = [Reader(message) for message in self.sent.messages]
        self.diverged = False

    @property
    def segments(self):
        return self.sent.segments

    def all(self, dtype, count):
        return [reader.take(dtype, count) for reader in self.readers]

    def sum(self, count, dtype="<f4"):
        """The sum over ranks, in their order."""
        first, *others = self.all(dtype, count)
        total = sum(others, first)
        self.diverged |= not np.all(np.isfinite(total))
        return total

    def number(self, name):
        return int(self.options[name])


def fp32(m):
    return m.sum(m.sent.count) / f32(len(m.sent.messages))


def to_bfloat(x):
    bits = x.view(np.uint32).astype(np.uint64)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype(np.uint16)


def cast_control(decode, encode):
    """fp16, bf16 (detail/dense/cast_control.hpp), with sums in 32 bits that are rounded once (docs/concepts.md)."""
    def mean(m):
        first, *others = map(decode, m.all("<u2", m.sent.count))
        total = sum(others, first)
        m.diverged = not np.all(np.isfinite(total))
        return decode(encode(total))
    return mean


def no_exchange(_m):
    """Nothing travels, so nothing is decoded."""


def summed_levels(m, levels, length, bits, feedback_factor=lambda longest: 1.0):
    """global_qsgd, terngrad:code=sum (detail/levels/summed_levels.hpp)."""
    sizes = group_sizes(m.segments, length)
    scales = np.max(m.all("<f4", len(sizes)), axis=0)
    m.diverged = not np.all(np.isfinite(scales))
    if m.diverged:
        return None
    if bits == 8:
        sums = m.sum(m.sent.count, "i1")
    else:  # kernels/pack/packed_levels.hpp
        most, per_word, parts = 2 ** (bits - 1) - 1, 32 // bits, [np.zeros(0, int)]
        for s in m.segments:
            words = m.sum(-(-s.count // (32 * per_word)) * 32, "<i4")
            unsigned = (words.astype(np.int64) + sum(most << bits * i for i in range(per_word))) & 0xFFFFFFFF
            digits = fields(unsigned.astype("<u4"), bits, per_word * len(words)) - most
            parts.append(digits.reshape(-1, 32, per_word).transpose(0, 2, 1).ravel()[:s.count])
        sums = np.concatenate(parts)
    steps = (feedback_factor(max(sizes, default=0)) * scales.astype(float)).astype(f32) / f32(levels)
    return m.sent.share * sums.astype(f32) * np.repeat(steps, sizes)


def global_qsgd(m):
    bits, ranks, length = m.number("bits"), len(m.sent.messages), m.options["group"]
    length = 0 if length == "tensor" else int(length)
    levels = (2 ** (bits - 1) - 1) // ranks

    def factor(longest):
        n = (length or longest) * ranks
        w = min(n / (4 * levels**2), math.sqrt(n) / levels)
        return 1 / (1 + w) if m.sent.feedback != "none" and m.options["scale"] == "auto" else 1.0
    return summed_levels(m, levels, length, bits, factor)


def terngrad_sum(m):
    return summed_levels(m, 1, 0, 8)


def block_top_k_shared(m):
    plan = list(blocks_of(m.options, m.segments))
    scores = m.sum(sum(blocks for _, _, blocks, _ in plan))
    chosen, first = [np.zeros(0, int)], 0
    for _, _, blocks, k in plan:
        chosen.append(first + largest(scores[first:first + blocks], k))
        first += blocks
    values = m.sum(sum(k * length for _, length, _, k in plan))
    return m.sent.share * scattered_blocks(m.segments, m.options, np.concatenate(chosen), values)


def random_k_shared(m):
    kept = sum(target_kept(m.options["ratio"], s.count) for s in m.segments)
    return m.sent.share * scattered_subsets(m.sent, m.options, m.segments, EVERY_RANK, m.sum(kept))


def sketch(m):
    """compressors/sketch.cpp, kernels/sketch/count_sketch.hpp"""
    n, rows = m.sent.count, m.number("rows")
    kept = [target_kept(m.options["ratio"], s.count) for s in m.segments]
    blocks = -(-n // 32)
    rings = min(blocks, max(2, -(-(m.number("columns") or 10 * sum(kept)) // 32)))
    table = m.sum(rows * 32 * rings).reshape(rows, 32 * rings)
    estimates = np.zeros((rows, 32 * blocks), f32)
    key = stream_key(m.sent.seed, m.segments[0].id if m.segments else 0, 0, EVERY_RANK)
    for row in range(rows if blocks else 0):
        bits = draw(key, np.arange(blocks), SKETCH, row)
        turned = (bits[2][:, None] + np.arange(32, dtype=np.uint64)) % 32
        values = table[row][(random_below(bits, rings)[:, None] * 32 + turned).astype(int)]
        estimates[row] = np.where(bits[3][:, None] >> turned & 1, -values, values).ravel()
    middle = np.sort(estimates, axis=0)[rows // 2]
    counts = [min(s.count, m.number("candidates") * k) for s, k in zip(m.segments, kept, strict=True)]
    candidates = [s.offset + largest(middle[s.place], c) for s, c in zip(m.segments, counts, strict=True)]
    sums, out, at = m.sum(sum(counts)), np.zeros(n, f32), 0
    for k, here in zip(kept, candidates, strict=True):
        mine = sums[at:at + len(here)]
        chosen = largest(mine, k)
        out[here[chosen]] = m.sent.share * mine[chosen]
        at += len(here)
    return out


def orthonormal(columns):
    """Gram-Schmidt in double, each projection twice (linear_algebra/orthogonalise.hpp). columns: [k][rows]"""
    done = []
    for x in columns.astype(float):
        before = x @ x
        for y in done + done:
            x = x - (x @ y) * y
        alive = x @ x > 1e-12 * before
        done.append(x / math.sqrt(x @ x) if alive else 0 * x)
    return np.array(done)


def householder(columns):
    """The thin Q of a QR factorisation whose R has no negative diagonal (linear_algebra/householder.hpp)."""
    q, r = np.linalg.qr(columns.astype(float).T)
    return (q * np.where(np.diag(r) < 0, -1, 1)).T


def refilled(sent, matrix, columns):
    """`columns` with random numbers in place of columns of zeros."""
    key = stream_key(sent.seed, matrix.segment.id, sent.step, EVERY_RANK)
    columns = columns.copy()
    for k in np.flatnonzero(~columns.any(axis=1)):
        words = np.array(draw(key, np.arange(columns.shape[1]), LOW_RANK, int(k))).astype(np.int64)
        total = ((words & 0xFFFF) + (words >> 16)).sum(axis=0) - 4 * 65535
        columns[k] = total.astype(f32) * (f32(1.2247449) / f32(65536))
    return columns


def normalised(columns):
    norms = np.sqrt((columns.astype(float)**2).sum(axis=1, keepdims=True))
    return np.where(norms > 1e-30, columns / np.where(norms > 0, norms, 1), 0)


@dataclass
class Factored:
    """A tensor that powersgd sends as factors P [r][rows] and Q [r][columns]."""
    segment: Segment
    turned: bool
    r: int

    @property
    def p_shape(self):
        return self.r, self.segment.columns if self.turned else self.segment.rows

    @property
    def q_shape(self):
        return self.r, self.segment.rows if self.turned else self.segment.columns


def powersgd(m):
    """compressors/powersgd.cpp, detail/low_rank: P of all matrices, then the other elements; then Q. Variants with one
    round send P and Q in turn, and receivers know the other factor: from the step before, or it is random."""
    rank, variant = m.number("rank"), m.options["variant"]
    authors = m.options.get("matrix") == "authors"
    matrices, dense = [], []
    for s in m.segments:
        r = min(rank, s.rows, s.columns)
        small = len(s.shape) >= 2 and 0 < r * (s.rows + s.columns) * float(m.options["min_rate"]) < s.count
        if small and m.sent.step >= m.number("start_step"):
            matrices.append(Factored(s, authors and not s.outputs_first, r))
        else:
            dense.append(s)
    matrices.sort(key=lambda matrix: matrix.turned)
    out = np.zeros(m.sent.count, f32)
    even = m.sent.step % 2 == 0 or (variant == "unbiased" and m.options.get("side") != "alternating")
    first = "p_shape" if variant in ("two_sided", "cold") or even else "q_shape"
    factors = [m.sum(math.prod(shape)).reshape(shape) for shape in (getattr(matrix, first) for matrix in matrices)]
    for s in dense:
        out[s.place] = m.sent.share * m.sum(s.count)
    make_orthonormal = householder if m.options["orthogonalise"] == "householder" else orthonormal
    for matrix, factor in zip(matrices, factors, strict=True):
        other_shape = matrix.q_shape if first == "p_shape" else matrix.p_shape
        if m.diverged:
            break
        if variant in ("two_sided", "cold"):
            basis, sent = make_orthonormal(factor), m.sent.share * m.sum(math.prod(other_shape)).reshape(other_shape)
            product = basis.T @ sent
        else:
            kept = m.sent.memory.get((matrix.segment.id, not even), np.zeros(other_shape, f32))
            basis = refilled(m.sent, matrix, kept if variant == "one_sided" else np.zeros(other_shape, f32))
            sent = m.sent.share * factor
            if variant == "one_sided":
                basis = make_orthonormal(basis)
                m.sent.memory[matrix.segment.id, even] = normalised(sent)
                m.sent.memory[matrix.segment.id, not even] = basis
            else:
                sent = sent / f32(rank)
            product = sent.T @ basis if first == "p_shape" else basis.T @ sent
        out[matrix.segment.place] = (product.T if matrix.turned else product).ravel()
    return out


SUMMED = {
    "block_top_k": block_top_k_shared, "fp16": cast_control(lambda c: c.view(np.float16).astype(f32),
                                                            lambda x: x.astype(np.float16).view("<u2")),
    "bf16": cast_control(bfloat, to_bfloat), "fp32": fp32, "global_qsgd": global_qsgd, "no_exchange": no_exchange,
    "powersgd": powersgd, "random_k": random_k_shared, "sketch": sketch, "terngrad": terngrad_sum,
}
