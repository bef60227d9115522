#pragma once
// elias_fano: fields with the low l bits of each index, then one bit vector in which entry i with index x sets bit
// (x >> l) + i (Elias, J. ACM 1974; Fano 1971). The width l is the smallest of those that take the fewest words.
#include "gradcomp/coders/index_coding.hpp"

namespace gradcomp::index_coders {

/// The width l of the low bits.
int elias_fano_width(index_t elements, index_t kept);
/// The number of bits of the bit vector.
constexpr index_t elias_fano_upper_bits(index_t elements, index_t kept, int width) {
  return kept + ((elements - 1) >> width);
}

coders::IndexCoderEntry elias_fano();

}  // namespace gradcomp::index_coders
