#include "gradcomp/exchange/detail/sparse_reducer.hpp"

#include <algorithm>
#include <numeric>

namespace gradcomp {

SparseReducer::SparseReducer(const Compressor& compressor, const Layout& layout, Communicator& comm, index_t returns)
    : Reducer(compressor, layout, comm),
      m_wire(compressor, layout.count()),
      m_returns(returns),
      m_most_kept(compressor.most_kept(layout)) {}

SparseList SparseReducer::own_list(const Exec& exec) {
  m_returns.clear();
  Reducer::produce(exec, 0);
  m_own = m_message;
  const Span<const std::byte> payload(m_own.payload.data(), static_cast<std::size_t>(m_own.size));
  SparseList list;
  list.flagged = read_header(exec, payload).skip();
  if (!list.flagged) list.entries = m_own.sparse;
  list.message = list.entries.kept;
  require(list.message <= m_most_kept, "{}: {} entries exceed the most that it promised, {}", m_compressor.info().name,
          list.message, m_most_kept);
  return list;
}

index_t SparseReducer::most_merged(index_t largest) const {
  const index_t target = std::accumulate(m_state->target.begin(), m_state->target.end(), index_t{0});
  return std::min(std::max(largest, target), m_most_kept);
}

void SparseReducer::give_back(const Exec& exec, const Span<float>& out) {
  m_returns.undo(exec, m_source);
  m_compressor.give_back(exec, m_source, *m_state, m_own, out);
}

void require_sparse(const char* reducer, const Compressor& compressor, const Layout& layout) {
  const auto& rounds = compressor.info().rounds;
  const bool one = rounds.size() == 1 && rounds[0] == MessageKind::bytes;
  require(one && (compressor.most_kept(layout) > 0 || layout.count() == 0),
          "reducer {}: it merges sparse entries, and method {} sends none", reducer, compressor.info().name);
}

}  // namespace gradcomp
