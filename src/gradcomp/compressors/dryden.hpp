#pragma once
// dryden: the largest positive and the largest negative entries of each segment, each class as its mean (Dryden, Moon,
// Jacobs & Van Essen, Communication quantization for data-parallel training of deep neural networks, MLHPC 2016).
//
// Of m+ positive entries the k+ = max(1, floor(ratio m+)) largest are kept, of m- negative ones likewise, nothing of an
// empty class; receivers decode every kept entry as the mean of the kept of its class, and the memory keeps a -
// decoded, at kept entries too: sum(r) = sum(a) - sum(decoded), and r sums to zero over the kept entries of each class.
// Means are made in double.
//
// variant=fixed: exactly k+ and k-, ties by lowest index. variant=paper, as GRACE does it: a sample of 1 % of the
// class, with replacement, gives a threshold; up to 20 times it is multiplied by 1.25 while more than 1.25 ceil(ratio
// m) entries lie above it, or by 0.9 while fewer than 0.8 of that do; if then none does, once by 0.8. Below 100 / ratio
// members the sample has one value to go by, and the count may be anything up to m. (Where GRACE divides by the count
// of an empty class and sends NaN, both variants send count 0.)
//
// Payload: for each segment f32 mean of the positive, f32 mean of the negative entries, u32 number of positive ones;
// then u32 indices of all positive entries of the bucket, ascending, then of all negative ones: 12 segments + 4 kept.
// Passes: 2 reads and 3 writes to form a and its two classes, 2 reads for their statistics, 2 to choose (paper: 2 more
// per repair). Work space: 8 n bytes for the classes.
#include "gradcomp/core/registry.hpp"

namespace gradcomp::compressors {
Entry dryden();
}
