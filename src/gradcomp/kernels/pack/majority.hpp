#pragma once
// The majority of many bit strings, 32 positions at a time.
#include "gradcomp/core/types.hpp"

namespace gradcomp::kernels {

/// Bit b of out[w] = 1 when bit b is set in more than half of the words words[r * stride + w], r < ranks; a tie gives
/// bit b of `ties`. Counts in vertical binary counters (bit p of 32 counts in one word): log2(ranks) operations per
/// word, no popcount. Bytes: 4 ranks count read, 4 count written.
void majority_words(const Exec& exec, const std::uint32_t* words, index_t stride, int ranks, index_t count,
                    std::uint32_t ties, std::uint32_t* out);

}  // namespace gradcomp::kernels
