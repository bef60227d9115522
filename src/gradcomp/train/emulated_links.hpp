#pragma once
// --link: the emulated links of a job. Several links take turns, a block of steps each. What is learned does not depend
// on the link, so one training is timed over all of them.
#include <memory>
#include <string>
#include <vector>

#include "gradcomp/comm/throttled.hpp"
#include "gradcomp/measure/machine.hpp"
#include "gradcomp/report/context.hpp"
#include "gradcomp/train/options.hpp"

namespace gradcomp::train {

class EmulatedLinks {
 public:
  /// `text` as parse_links() takes it. If the ranks of a host share its cores, a rank computes `slowed_by` times as
  /// long as it would alone, and the links are slower by the same factor. Throws Error.
  EmulatedLinks(const std::string& text, double slowed_by);

  index_t count() const { return static_cast<index_t>(m_links.size()); }
  const std::vector<Link>& links() const { return m_links; }  ///< as typed
  double slowed_by() const { return m_slowed_by; }

  /// Wraps `inner`; later calls of choose() set its link.
  std::unique_ptr<Transport> wrap(std::unique_ptr<Transport> inner, double limit_seconds = 0) const;

  /// Chooses the link of block number `block`, which begins now, and returns the link's number. No call may be pending.
  index_t choose(index_t block);

 private:
  std::vector<Link> m_links;
  double m_slowed_by;
  std::shared_ptr<Link> m_current;
};

/// Throws Error unless every link gets the same number of timed steps.
void check_links(const Options& options, const EmulatedLinks& links);

/// The link as result files describe it.
report::LinkInfo link_info(const EmulatedLinks& links);

/// How many threads share a core of a host with `cores` cores, on which `ranks` ranks compute with `threads` threads
/// each; at least 1.
double threads_per_core(index_t ranks, int threads, int cores);

/// threads_per_core() of the host with the largest value. `machine` is that of this rank, with its host name. On a
/// device it is 1, because each rank has a device of its own. Collective.
double ranks_per_core(Transport& control, const Machine& machine);

}  // namespace gradcomp::train
