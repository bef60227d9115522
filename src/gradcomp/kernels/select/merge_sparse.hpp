#pragma once
// Sum of two sparse vectors, of which the largest entries are kept: one hop of gTop-k.
#include <vector>

#include "gradcomp/core/message.hpp"
#include "gradcomp/kernels/select/top_k.hpp"

namespace gradcomp::kernels {

/// Places entries a_i at i + lower_bound(b, a_i) and b_j at j + upper_bound(a, b_j), which is their order in the union:
/// no atomics, no order of threads. Equal indices fall on neighbouring slots; the first takes the sum, the second 0.
class SparseMerge {
 public:
  /// For lists of at most `capacity` entries each.
  explicit SparseMerge(index_t capacity);

  /// kept() = the `max_entries` largest nonzeros of a + b, ties by lowest index; the lists may be kept() of the last
  /// call, and must have ascending indices and finite values. False, with nothing kept, when a sum overflowed. Waits
  /// for exec.
  bool run(const Exec& exec, const SparseView& a, const SparseView& b, index_t max_entries);

  const SparseView& kept() const { return m_kept; }

  /// What run() dropped: the nonzeros of dropped_values(), whose indices are dropped_indices(), ascending there.
  Span<const float> dropped_values() const { return m_rest; }
  Span<const std::uint32_t> dropped_indices() const { return m_slot_indices; }

  index_t bytes() const;

 private:
  Tiles m_tiles;  ///< of the slots, as one segment
  FirstPass m_first;
  Selector m_selector;
  Vector<std::uint32_t> m_slot_indices;  ///< [slots]
  Vector<float> m_sums, m_rest;          ///< [slots]; rest: the sums without those that are kept
  Vector<std::uint32_t> m_chosen, m_indices;
  Vector<float> m_values;
  std::vector<Selection> m_selection;
  SparseView m_kept;
};

/// rest[i] = a.values[i] where b has no entry with that index, 0 elsewhere.
void values_not_in(const Exec& exec, const SparseView& a, const SparseView& b, float* rest);

}  // namespace gradcomp::kernels
