#pragma once
// What coders share that write indices one by one, not by their gaps: packed, bitmap and Elias-Fano.
#include "gradcomp/coders/index_coding.hpp"

namespace gradcomp::coders {

/// Index i itself: what packed and Elias-Fano write the low bits of.
struct Plain {
  const std::uint32_t* indices;
  KOKKOS_FORCEINLINE_FUNCTION std::uint32_t operator()(index_t i) const { return indices[i]; }
};

/// Entry i sets bit (index >> shift) + i rank, of `count` words: bitmap with shift 0 and rank 0, Elias-Fano with
/// rank 1.
void write_ones(const Exec& exec, const IndexList& list, int shift, index_t rank, index_t count, std::uint32_t* words);

}  // namespace gradcomp::coders
