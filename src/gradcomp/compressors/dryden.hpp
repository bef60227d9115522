#pragma once
// dryden: sends the largest positive and the largest negative entries of each segment, each class as its mean (Dryden,
// Moon, Jacobs & Van Essen, Communication quantization for data-parallel training of deep neural networks, MLHPC 2016).
//
// Of m+ positive entries, the k+ = max(1, floor(ratio m+)) largest are kept, and likewise of m- negative entries; an
// empty class keeps none. Receivers decode every kept entry as the mean of the kept entries of its class, and the
// memory keeps a - decoded, at kept entries too. So sum(r) = sum(a) - sum(decoded), and r sums to zero over the kept
// entries of each class. Means are formed in double.
//
// variant=fixed keeps exactly k+ and k- entries; ties go to the lowest index. variant=paper does what GRACE does: a
// sample of 1 % of the class, drawn with replacement, gives a threshold. Up to 20 times, the threshold is multiplied by
// 1.25 if more than 1.25 ceil(ratio m) entries lie above it, or by 0.9 if fewer than 0.8 ceil(ratio m) do. If then no
// entry lies above it, it is multiplied by 0.8 once. A class with fewer than 100 / ratio members has only one sampled
// value for its threshold, and its count may be anything up to m. If a class is empty, GRACE divides by 0 and sends
// NaN; both variants send count 0.
//
// Payload: for each segment f32 mean of the positive entries, f32 mean of the negative entries, u32 number of positive
// entries; then the u32 indices of all positive entries of the bucket in ascending order, then those of all negative
// entries: 12 segments + 4 kept bytes.
//
// Passes: 2 reads and 3 writes to form a and its two classes, 2 reads for their statistics, 2 to choose (variant=paper:
// 2 more for each repair). Work space: 8 n bytes for the classes.
#include "gradcomp/core/registry.hpp"

namespace gradcomp::compressors {
Entry dryden();
}
