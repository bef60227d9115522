#pragma once
// --link: the emulated links of a job. Several rates take turns, a block of steps each: what is learned does not depend
// on them, so that one training is timed over all of them.
#include <memory>
#include <string>
#include <vector>

#include "gradcomp/comm/throttled.hpp"
#include "gradcomp/report/context.hpp"
#include "gradcomp/train/options.hpp"

namespace gradcomp::train {

class EmulatedLinks {
 public:
  /// `text` as parse_links() takes it. Where the ranks of a host share its cores, `slowed_by` says how much longer a
  /// rank computes than it would alone; the links are as much slower. Throws Error.
  EmulatedLinks(const std::string& text, double slowed_by);

  index_t count() const { return static_cast<index_t>(m_links.size()); }
  const std::vector<Link>& links() const { return m_links; }  ///< as typed
  double slowed_by() const { return m_slowed_by; }

  /// Wraps `inner`; later calls to choose() hold for it.
  std::unique_ptr<Transport> wrap(std::unique_ptr<Transport> inner, double limit_seconds = 0) const;

  /// The link of block number `block`, which begins now. Nothing may be under way. Returns its number.
  index_t choose(index_t block);

 private:
  std::vector<Link> m_links;
  double m_slowed_by;
  std::shared_ptr<Link> m_current;
};

/// Throws Error where the steps of a job do not give every link as many timed steps.
void check_links(const Options& options, const EmulatedLinks& links);

/// As result files have it.
report::LinkInfo link_info(const EmulatedLinks& links);

/// How many threads of ranks share a core of this host, at least 1: what ranks compute at a time when all do.
/// Collective.
double ranks_per_core(Transport& control);

}  // namespace gradcomp::train
