#include "gradcomp/exchange/detail/sparse_reducer.hpp"

#include <algorithm>
#include <numeric>

#include "gradcomp/exchange/detail/refusals.hpp"

namespace gradcomp {

SparseReducer::SparseReducer(const ReducerSetup& setup)
    : Reducer(setup), m_wire(setup.sender.compressor(), setup.sender.count()), m_max_kept(gradcomp::max_kept(setup)) {}

SparseList SparseReducer::own_list(const Exec& exec) {
  const Message& own = m_sender.produce(exec, 0);
  SparseList list;
  list.flagged = read_header(exec, m_sender.payload()).diverged();
  if (!list.flagged) list.entries = own.sparse;
  list.message = list.entries.kept;
  require(list.message <= m_max_kept, "{}: a message of {} entries, expected at most {}",
          m_sender.compressor().info().name, list.message, m_max_kept);
  return list;
}

index_t SparseReducer::max_merged(index_t largest) const {
  const auto& targets = m_sender.state().target;
  const index_t target = std::accumulate(targets.begin(), targets.end(), index_t{0});
  return std::min(std::max(largest, target), m_max_kept);
}

void return_entries(const Exec& exec, const Source& source, const std::uint32_t* indices, index_t first,
                    const float* values, index_t count) {
  if (!source.has_memory()) return;
  Kokkos::parallel_for(
      "gradcomp::exchange::return_entries", IndexRange(exec, 0, count), KOKKOS_LAMBDA(const index_t i) {
        if (values[i] == 0) return;
        source.returned(indices == nullptr ? first + i : static_cast<index_t>(indices[i]), values[i]);
      });
}

std::string refuses_dense(const Info& info) {
  if (sends_bytes(info) && info.sparse) return "";
  return fmt::format("it merges sparse entries, and method {} sends none", info.name);
}

}  // namespace gradcomp
