#pragma once
// Gaps between ascending indices, less one, the first counted from -1: what delta and rice write.
#include "gradcomp/coders/index_coding.hpp"

namespace gradcomp::coders {

struct Gaps {
  const std::uint32_t* indices;

  KOKKOS_FORCEINLINE_FUNCTION std::uint32_t operator()(index_t i) const {
    return i == 0 ? indices[0] : indices[i] - indices[i - 1] - 1;
  }
};

/// Bytes of a LEB128 varint.
KOKKOS_FORCEINLINE_FUNCTION int varint_bytes(std::uint32_t value) {
  return 1 + (value >= 1u << 7) + (value >= 1u << 14) + (value >= 1u << 21) + (value >= 1u << 28);
}

/// The sums over the gaps of the list. The first call of a list runs a kernel and waits for exec; later calls do not.
const GapSums& gap_sums(const Exec& exec, const IndexList& list);

/// indices[i] = sum over j <= i of (gap(j) + 1), less one, plus quotients[i] 2^b where there are quotients (zeros
/// before the one of entry i, that is quotients summed up to i). What exceeds 32 bits becomes 2^32 - 1, which no bucket
/// has. `gaps` and `quotients` may be `indices`.
void sum_gaps(const Exec& exec, const kernels::BitFields& gaps, const std::uint32_t* quotients, index_t kept,
              const Work& starts, std::uint32_t* indices);

}  // namespace gradcomp::coders
