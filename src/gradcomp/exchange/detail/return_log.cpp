#include "gradcomp/exchange/detail/return_log.hpp"

#include "gradcomp/core/error.hpp"

namespace gradcomp {

using Entries = Kokkos::RangePolicy<Exec, Kokkos::IndexType<index_t>>;

ReturnLog::ReturnLog(index_t capacity)
    : m_indices(Kokkos::view_alloc(Kokkos::WithoutInitializing, "gradcomp::exchange::returned_indices"),
                static_cast<std::size_t>(capacity)),
      m_before(Kokkos::view_alloc(Kokkos::WithoutInitializing, "gradcomp::exchange::returned_before"),
               static_cast<std::size_t>(capacity)) {}

void ReturnLog::give(const Exec& exec, const Source& source, const std::uint32_t* indices, index_t first,
                     const float* values, index_t count) {
  if (!source.has_memory() || count == 0) return;
  const index_t begin = m_ends.empty() ? 0 : m_ends.back(), room = static_cast<index_t>(m_indices.size()) - begin;
  const auto logged = m_indices;
  const auto before = m_before;
  index_t found = 0;
  Kokkos::parallel_scan(
      "gradcomp::exchange::give_returned", Entries(exec, 0, count),
      KOKKOS_LAMBDA(index_t i, index_t & place, bool last) {
        if (values[i] == 0) return;
        if (last && place < room) {
          const index_t element = indices == nullptr ? first + i : static_cast<index_t>(indices[i]);
          logged(begin + place) = static_cast<std::uint32_t>(element);
          before(begin + place) = source.memory[element];
          source.returned(element, values[i]);
        }
        ++place;
      },
      found);
  exec.fence("gradcomp::exchange::give_returned");
  require(found <= room, "reducer: {} entries to return to the memory, room for {}", found, room);
  m_ends.push_back(begin + found);
}

void ReturnLog::undo(const Exec& exec, const Source& source) {
  const auto logged = m_indices;
  const auto before = m_before;
  for (std::size_t call = m_ends.size(); call-- > 0;) {  // the last first: an element may have been given to twice
    Kokkos::parallel_for(
        "gradcomp::exchange::undo_returned", Entries(exec, call == 0 ? 0 : m_ends[call - 1], m_ends[call]),
        KOKKOS_LAMBDA(index_t i) { source.memory[logged(i)] = before(i); });
  }
  m_ends.clear();
}

}  // namespace gradcomp
