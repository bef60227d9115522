#include "gradcomp/exchange/detail/return_log.hpp"

#include "gradcomp/core/error.hpp"
#include "gradcomp/core/read_back.hpp"

namespace gradcomp {

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
  constexpr index_t row_size = 32;  // a loop over 32 values vectorises; most rows of a wide range are zeros
  Kokkos::parallel_scan(
      "gradcomp::exchange::give_returned", IndexRange(exec, 0, (count + row_size - 1) / row_size),
      KOKKOS_LAMBDA(index_t r, index_t & place, bool last) {
        const index_t start = r * row_size, end = Kokkos::min(count, start + row_size);
        std::int32_t nonzeros = 0;
        for (index_t i = start; i < end; ++i) nonzeros += values[i] != 0 ? 1 : 0;
        index_t at = place;
        place += nonzeros;
        if (!last || nonzeros == 0) return;
        for (index_t i = start; i < end; ++i) {
          if (values[i] == 0 || at >= room) continue;
          const index_t element = indices == nullptr ? first + i : static_cast<index_t>(indices[i]);
          logged(begin + at) = static_cast<std::uint32_t>(element);
          before(begin + at++) = source.memory[element];
          source.returned(element, values[i]);
        }
      },
      found);
  wait(exec, "gradcomp::exchange::give_returned");
  require(found <= room, "reducer: {} entries to return to the memory, expected at most {}", found, room);
  m_ends.push_back(begin + found);
}

void ReturnLog::undo(const Exec& exec, const Source& source) {
  const auto logged = m_indices;
  const auto before = m_before;
  for (std::size_t call = m_ends.size(); call-- > 0;) {  // the last first: two calls may have given to the same element
    Kokkos::parallel_for(
        "gradcomp::exchange::undo_returned", IndexRange(exec, call == 0 ? 0 : m_ends[call - 1], m_ends[call]),
        KOKKOS_LAMBDA(index_t i) { source.memory[logged(i)] = before(i); });
  }
  m_ends.clear();
}

}  // namespace gradcomp
