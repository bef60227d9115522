#pragma once
// Adds sparse entries to a dense array, without atomics, because indices are unique.
#include "gradcomp/core/payload.hpp"

namespace gradcomp::kernels {

/// The first entry of [from, to) whose index is not below `bound`, or `to`, by bisection. A larger bound gives no
/// smaller result, whatever the order of the indices is.
KOKKOS_INLINE_FUNCTION index_t first_entry(const std::uint32_t* indices, index_t bound, index_t from, index_t to) {
  while (from < to) {
    const index_t middle = from + (to - from) / 2;
    if (static_cast<index_t>(indices[middle]) < bound) {
      from = middle + 1;
    } else {
      to = middle;
    }
  }
  return from;
}

/// The number of entries with an index that is not below `n` or not above the index before, or with a value that is not
/// finite. Trusts nothing, and reads only the two arrays. Waits for exec.
index_t count_bad_entries(const Exec& exec, const std::uint32_t* indices, const float* values, index_t count,
                          index_t n);

/// The number of values that are infinite or not a number. Waits for exec.
index_t count_non_finite(const Exec& exec, const Span<const float>& values);

/// out[indices[i]] += weight * values[i]. The indices must be unique and in range.
void scatter_add(const Exec& exec, const std::uint32_t* indices, const float* values, index_t count, float weight,
                 const Span<float>& out);

/// A payload whose header is followed by `count` indices and as many values. Nobody has checked it.
struct SparseMessage {
  const std::uint32_t* words = nullptr;
  index_t count = 0;
  float weight = 1;
};

inline constexpr int messages_together = 8;  ///< the arguments of a launch on a device are limited

/// Up to `messages_together` payloads of one method.
struct SparseMessages {
  SparseMessage message[messages_together];
  int count = 0;
  PayloadHeader expected = {};  ///< of each, but for the number of entries
  FaultCounts faults = {};
};

/// out += weight * values[i] at indices[i] for all messages that are admitted, in their order; if `from_zero` is set,
/// `out` becomes 0 before. Entries that count_bad_entries() counts are broken, and are left out. One pass over `out`.
void sum_messages(const Exec& exec, const SparseMessages& messages, bool from_zero, const Span<float>& out);

}  // namespace gradcomp::kernels
