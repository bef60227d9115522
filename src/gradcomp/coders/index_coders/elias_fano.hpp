#pragma once
// elias_fano: the low l bits as fields, then one bit vector in which entry i of index x sets bit (x >> l) + i (Elias,
// J. ACM 1974; Fano 1971); l is the one that takes the fewest words.
#include "gradcomp/coders/index_coding.hpp"

namespace gradcomp::index_coders {

/// Width l of the low bits, and bits of the unary part.
int elias_fano_width(index_t elements, index_t kept);
constexpr index_t elias_fano_upper_bits(index_t elements, index_t kept, int width) {
  return kept + ((elements - 1) >> width);
}

coders::IndexCoderEntry elias_fano();

}  // namespace gradcomp::index_coders
