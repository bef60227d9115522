#include "gradcomp/exchange/detail/sparse_reducer.hpp"

#include <algorithm>
#include <numeric>

#include "gradcomp/exchange/detail/refusals.hpp"

namespace gradcomp {

SparseReducer::SparseReducer(const ReducerSetup& setup, index_t returns)
    : Reducer(setup),
      m_wire(setup.sender.compressor(), setup.sender.count()),
      m_returns(returns),
      m_max_kept(gradcomp::max_kept(setup)) {}

SparseList SparseReducer::own_list(const Exec& exec) {
  m_returns.clear();
  const Message& own = m_sender.produce(exec, 0);
  SparseList list;
  list.flagged = read_header(exec, m_sender.payload()).skip();
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

void SparseReducer::take_back(const Exec& exec, const Span<float>& mean) {
  m_returns.undo(exec, m_sender.source());
  Reducer::take_back(exec, mean);
}

std::string refuses_dense(const Info& info) {
  if (sends_bytes(info) && info.sparse) return "";
  return fmt::format("it merges sparse entries, and method {} sends none", info.name);
}

}  // namespace gradcomp
