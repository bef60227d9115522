#pragma once
// Adds sparse entries to a dense array, without atomics, because indices are unique.
#include "gradcomp/core/payload.hpp"

namespace gradcomp::kernels {

/// The number of entries with an index that is not below `n` or not above the index before, or with a value that is not
/// finite. Trusts nothing, and reads only the two arrays. Waits for exec.
index_t count_bad_entries(const Exec& exec, const std::uint32_t* indices, const float* values, index_t count,
                          index_t n);

/// The number of values that are infinite or not a number. Waits for exec.
index_t count_non_finite(const Exec& exec, const Span<const float>& values);

/// out[indices[i]] += weight * values[i]. The indices must be unique and in range.
void scatter_add(const Exec& exec, const std::uint32_t* indices, const float* values, index_t count, float weight,
                 const Span<float>& out);

/// The same for the entries of a payload that nobody has checked, if it is admitted: those that count_bad_entries()
/// counts are broken, and are left out.
void scatter_received(const Exec& exec, const std::uint32_t* indices, const float* values, index_t count, float weight,
                      Admission admission, const Span<float>& out);

}  // namespace gradcomp::kernels
