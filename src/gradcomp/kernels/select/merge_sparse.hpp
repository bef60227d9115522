#pragma once
// The sum of two sparse vectors, of which the largest entries are kept: one hop of gTop-k (global top-k).
#include <vector>

#include "gradcomp/core/message.hpp"
#include "gradcomp/kernels/select/top_k.hpp"

namespace gradcomp::kernels {

/// Places entries a_i at slot i + lower_bound(b, a_i), and b_j at slot j + upper_bound(a, b_j). This is their order in
/// the union, and needs neither atomics nor an order of threads. Equal indices get neighbouring slots: the first gets
/// the sum, and the second 0.
class SparseMerge {
 public:
  /// For lists of at most `capacity` entries each.
  explicit SparseMerge(index_t capacity);

  /// kept() = the `max_entries` largest nonzeros of a + b; ties go to the lowest index. The lists must have ascending
  /// indices and finite values, and may be kept() of the last call. If a sum overflows, returns false and keeps
  /// nothing. Throws Error if the lists have more than twice the capacity in all. Waits for exec.
  bool run(const Exec& exec, const SparseView& a, const SparseView& b, index_t max_entries);

  const SparseView& kept() const { return m_kept; }

  /// The entries that run() dropped are the nonzeros of dropped_values(). Their indices are at the same places in
  /// dropped_indices(), in ascending order.
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

/// rest[i] = a.values[i] if b has no entry with the same index; otherwise 0.
void values_not_in(const Exec& exec, const SparseView& a, const SparseView& b, float* rest);

}  // namespace gradcomp::kernels
