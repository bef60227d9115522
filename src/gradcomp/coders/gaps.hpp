#pragma once
// Gaps of ascending indices: the difference to the index before (to -1 for the first index), minus one. The coders
// delta and rice write them.
#include "gradcomp/coders/index_coding.hpp"

namespace gradcomp::coders {

struct Gaps {
  const std::uint32_t* indices;

  KOKKOS_FORCEINLINE_FUNCTION std::uint32_t operator()(index_t i) const {
    return i == 0 ? indices[0] : indices[i] - indices[i - 1] - 1;
  }
};

/// Bytes of `value` as a LEB128 varint: 7 bits per byte, low bits first.
KOKKOS_FORCEINLINE_FUNCTION int varint_bytes(std::uint32_t value) {
  return 1 + (value >= 1u << 7) + (value >= 1u << 14) + (value >= 1u << 21) + (value >= 1u << 28);
}

/// The sums over the gaps of the list. The first call for a list runs a kernel and waits for exec; later calls do not.
const GapSums& gap_sums(const Exec& exec, const IndexList& list);

/// indices[i] = sum over j <= i of (gaps(j) + 1), minus one. If `quotients` is not null, adds quotients[i] 2^b, where b
/// is the width of `gaps` and quotients[i] is the sum of the quotients of entries 0 .. i. An index of more than 32 bits
/// becomes 2^32 - 1, which is out of range in every bucket. `gaps` and `quotients` may be the array `indices`.
void sum_gaps(const Exec& exec, const kernels::BitFields& gaps, const std::uint32_t* quotients, index_t kept,
              const Work& starts, std::uint32_t* indices);

}  // namespace gradcomp::coders
