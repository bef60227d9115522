#pragma once
// Sparse entries onto a dense array. No atomics: indices are unique.
#include "gradcomp/core/types.hpp"

namespace gradcomp::kernels {

/// Entries that must not be used: index not below `n`, index not above the one before it, or value not finite. Trusts
/// nothing; reads only the arrays. Waits for exec.
index_t count_bad_entries(const Exec& exec, const std::uint32_t* indices, const float* values, index_t count,
                          index_t n);

/// Values that are infinite or not a number. Waits for exec.
index_t count_non_finite(const Exec& exec, const Span<const float>& values);

/// out[indices[i]] += weight * values[i]; indices unique and in range.
void scatter_add(const Exec& exec, const std::uint32_t* indices, const float* values, index_t count, float weight,
                 const Span<float>& out);

}  // namespace gradcomp::kernels
