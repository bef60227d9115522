#pragma once
// Shared by the coders that write indices themselves and not their gaps: packed, bitmap and Elias-Fano.
#include "gradcomp/coders/index_coding.hpp"

namespace gradcomp::coders {

/// Index i itself. Packed and Elias-Fano write its low bits.
struct Plain {
  const std::uint32_t* indices;
  KOKKOS_FORCEINLINE_FUNCTION std::uint32_t operator()(index_t i) const { return indices[i]; }
};

/// Clears `count` words; then every entry i sets bit (index >> shift) + i rank. Bitmap uses shift 0 and rank 0,
/// Elias-Fano rank 1.
void write_ones(const Exec& exec, const IndexList& list, int shift, index_t rank, index_t count, std::uint32_t* words);

}  // namespace gradcomp::coders
