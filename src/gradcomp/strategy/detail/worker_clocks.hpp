#pragma once
// Which workers may continue, as one server sees it: it has a clock for each worker that counts the steps it has sent.
#include <algorithm>
#include <limits>
#include <vector>

#include "gradcomp/core/types.hpp"

namespace gradcomp {

class WorkerClocks {
 public:
  static constexpr index_t unbounded = std::numeric_limits<index_t>::max();

  /// `bound`: how many steps a worker that continues may be ahead of the slowest one; with 0 no worker may be ahead (Ho
  /// et al., More effective distributed ML via a stale synchronous parallel parameter server, NeurIPS 2013).
  WorkerClocks(int workers, index_t bound) : m_clocks(static_cast<std::size_t>(workers), 0), m_bound(bound) {}

  /// Call it when a step of `worker` has arrived.
  void tick(int worker) { ++m_clocks[static_cast<std::size_t>(worker)]; }
  /// Whether `worker` may begin its next step. If every worker waits for this, no two clocks differ by more than bound
  /// + 1.
  bool may_go(int worker) const { return m_clocks[static_cast<std::size_t>(worker)] - slowest() <= m_bound; }
  /// Number of steps between the fastest worker and the slowest.
  index_t gap() const { return *std::max_element(m_clocks.begin(), m_clocks.end()) - slowest(); }

  /// The clocks, for checkpoints.
  std::vector<index_t>& values() { return m_clocks; }

 private:
  index_t slowest() const { return *std::min_element(m_clocks.begin(), m_clocks.end()); }

  std::vector<index_t> m_clocks;
  index_t m_bound;
};

}  // namespace gradcomp
