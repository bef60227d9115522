#pragma once
// The majority of many bit strings, 32 positions at a time.
#include "gradcomp/core/types.hpp"

namespace gradcomp::kernels {

/// Bit b of out[w] is 1 if bit b is set in more than half of the words words[r * stride + w], r < ranks; for a tie it
/// is bit b of `ties`. The counters are vertical (one word holds bit p of 32 counts), so that a word takes log2(ranks)
/// operations and no popcount. Bytes: 4 ranks count read, 4 count written.
void majority_words(const Exec& exec, const std::uint32_t* words, index_t stride, int ranks, index_t count,
                    std::uint32_t ties, std::uint32_t* out);

}  // namespace gradcomp::kernels
