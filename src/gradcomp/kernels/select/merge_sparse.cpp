#include "gradcomp/kernels/select/merge_sparse.hpp"

#include "gradcomp/core/error.hpp"
#include "gradcomp/kernels/lanes/arrays.hpp"
#include "gradcomp/kernels/select/scatter.hpp"

namespace gradcomp::kernels {
namespace {

/// Whether the entry of `list` at `place` exists and has this index.
KOKKOS_INLINE_FUNCTION bool holds(const SparseView& list, index_t place, std::uint32_t index) {
  return place < list.kept && list.indices[place] == index;
}

/// Writes the slots of the union, and zeros behind them.
void place(const Exec& exec, const SparseView& a, const SparseView& b, const Vector<std::uint32_t>& indices,
           const Vector<float>& sums) {
  Kokkos::parallel_for(
      "gradcomp::kernels::place_sparse", IndexRange(exec, 0, static_cast<index_t>(sums.size())),
      KOKKOS_LAMBDA(index_t i) {
        if (i < a.kept) {
          const std::uint32_t index = a.indices[i];
          const index_t before = first_entry(b.indices, index, 0, b.kept);
          indices(i + before) = index;
          sums(i + before) = holds(b, before, index) ? a.values[i] + b.values[before] : a.values[i];
        } else if (i < a.kept + b.kept) {
          const index_t j = i - a.kept;
          const std::uint32_t index = b.indices[j];
          const index_t before = first_entry(a.indices, index, 0, a.kept);
          const bool both = holds(a, before, index);
          const index_t slot = j + before + (both ? 1 : 0);
          indices(slot) = index;
          sums(slot) = both ? 0.0f : b.values[j];
        } else {
          sums(i) = 0;
        }
      });
}

}  // namespace

SparseMerge::SparseMerge(index_t capacity)
    : m_tiles(Layout::flat(2 * capacity)),
      m_first(m_tiles, Statistics::largest),
      m_selector(m_tiles, 0.5),
      m_slot_indices(zeroed<std::uint32_t>("gradcomp::kernels::merge_indices", 2 * capacity)),
      m_sums(zeroed<float>("gradcomp::kernels::merge_sums", 2 * capacity)),
      m_rest(zeroed<float>("gradcomp::kernels::merge_rest", 2 * capacity)),
      m_chosen(zeroed<std::uint32_t>("gradcomp::kernels::merge_chosen", 2 * capacity)),
      m_indices(zeroed<std::uint32_t>("gradcomp::kernels::merge_kept_indices", 2 * capacity)),
      m_values(zeroed<float>("gradcomp::kernels::merge_kept_values", 2 * capacity)),
      m_selection(1) {}

bool SparseMerge::run(const Exec& exec, const SparseView& a, const SparseView& b, index_t max_entries) {
  const auto slots = static_cast<index_t>(m_sums.size());
  require(a.kept + b.kept <= slots, "sparse merge: {} and {} entries, at most {} in all are possible", a.kept, b.kept,
          slots);
  place(exec, a, b, m_slot_indices, m_sums);
  Source source;  // its memory, m_rest, keeps what emit() does not take
  source.kind = Source::Kind::residual;
  source.count = slots;
  source.gradient = m_sums.data();
  source.memory = m_rest.data();
  source.beta = 0;
  m_first.run(exec, m_tiles, source);
  m_kept = {};
  if (m_first.non_finite() > 0) return false;
  // if there are at most `max_entries` nonzeros, take all of them by the threshold 0, so that no zeros are taken
  m_selection[0] = {max_entries, m_first.moments()[0].nonzeros > max_entries, 0, slots};
  m_selector.choose(exec, m_tiles, source, m_first, m_selection);
  m_selector.emit(exec, m_tiles, source, m_chosen.data(), m_values.data());
  const auto chosen = m_chosen, indices = m_indices, slot_indices = m_slot_indices;
  const index_t kept = m_selector.kept();
  Kokkos::parallel_for(
      "gradcomp::kernels::name_sparse", IndexRange(exec, 0, kept),
      KOKKOS_LAMBDA(index_t i) { indices(i) = slot_indices(chosen(i)); });
  m_kept = {m_indices.data(), m_values.data(), kept};
  return true;
}

void values_not_in(const Exec& exec, const SparseView& a, const SparseView& b, float* rest) {
  Kokkos::parallel_for(
      "gradcomp::kernels::values_not_in", IndexRange(exec, 0, a.kept), KOKKOS_LAMBDA(index_t i) {
        const std::uint32_t index = a.indices[i];
        rest[i] = holds(b, first_entry(b.indices, index, 0, b.kept), index) ? 0.0f : a.values[i];
      });
}

index_t SparseMerge::bytes() const {
  return m_tiles.bytes() + m_first.bytes() + m_selector.bytes() + 24 * static_cast<index_t>(m_sums.size());
}

}  // namespace gradcomp::kernels
