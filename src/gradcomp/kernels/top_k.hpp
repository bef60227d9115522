#pragma once
// Choosing the entries of every segment of a bucket: those above a threshold, or exactly the k largest.
//
// Exact: a sample (FirstPass) gives a bound that is almost certainly below the k-th magnitude; one read collects what
// lies above it; radix passes over these candidates give the k-th magnitude and how many of its ties are taken. When
// the bound was too high, the segment is done again without one. A threshold that lets too many through is replaced by
// the same search, and so is one that lets too few through. Same entries for any thread count and device.
//
// In later steps expect() lets the first pass collect what lies above a bound a little below the last threshold: the
// choice then needs no read of its own. Where the bound was too high, all is as in the first step. The bound decides
// how long a choice takes, never what is chosen.
#include <vector>

#include "gradcomp/kernels/candidates.hpp"
#include "gradcomp/kernels/moments.hpp"
#include "gradcomp/kernels/radix.hpp"

namespace gradcomp::kernels {

/// What one segment asks for.
struct Request {
  index_t k = 0;               ///< entries wanted, at most the segment's elements; 0: none at all
  bool exact = true;           ///< exactly k, zeros included; false: all above `threshold`
  std::int32_t threshold = 0;  ///< magnitude()
  index_t capacity = 0;        ///< with a threshold: past so many (>= k), exactly the k largest instead
  index_t least = 0;           ///< with a threshold: below so many (<= k), exactly the k largest instead
  index_t cut = 0;             ///< with a threshold: only the first so many in index order; 0: all
  std::int32_t low = -1;       ///< exact: k entries are thought to lie above it, which saves the sample; -1: unknown
};

/// Entries chosen in one segment.
struct Chosen {
  index_t kept = 0;   ///< entries that emit() writes
  index_t above = 0;  ///< with a threshold: entries above it, before capacity, least and cut were applied
};

class Selector {
 public:
  /// `density`: the share of elements usually kept; `spare`: how many times what is kept expect() collects at least.
  /// Only speed depends on them.
  Selector(const Tiles& tiles, double density, double spare = 1.2);

  /// What FirstPass::run() is to collect in this step. Not calling it is as if there were no step before.
  Collector expect(const Exec& exec, const Source& source);
  /// What came of it; to be called between FirstPass::run() and choose().
  const Shortlist& shortlist(const Tiles& tiles, const FirstPass& first);

  /// Decides, for a = source.accumulated() right after `first` ran over the same source. Waits for exec.
  void choose(const Exec& exec, const Tiles& tiles, const Source& source, const FirstPass& first,
              const std::vector<Request>& requests);

  /// [segments] and in all, of the last choose().
  const std::vector<Chosen>& chosen() const { return m_chosen; }
  index_t kept() const;

  /// Writes kept() bucket-relative indices, ascending, and their values; reports each to the source as sent exactly.
  void emit(const Exec& exec, const Tiles& tiles, const Source& source, std::uint32_t* indices, float* values);

  index_t bytes() const;

 private:
  /// A bound below a segment's next threshold, by that of the last step.
  struct Bound {
    std::int32_t low = no_bound;
    std::int32_t margin = 0;  ///< from the threshold down, in magnitude()s; 0: no step yet
  };

  bool listed(std::size_t s, const Request& request, const FirstPass& first) const;
  bool use_listed(std::size_t s, const Request& request, const FirstPass& first);
  bool repair(const std::vector<Request>& requests, const FirstPass& first);
  void remember(const std::vector<Request>& requests, const FirstPass& first);
  void upload(const Exec& exec);
  void download(const Exec& exec);

  Candidates m_candidates;
  Radix m_radix;
  Vector<Goal> m_goals;
  Vector<index_t> m_totals;
  std::vector<Goal> m_host_goals;
  std::vector<index_t> m_host_totals, m_elements, m_sampled;
  std::vector<Chosen> m_chosen;

  double m_spare;
  bool m_expecting = false;    ///< whether the last first pass collected
  Vector<std::int32_t> m_low;  ///< [segments] bounds of this step
  std::vector<std::int32_t> m_host_low;
  std::vector<Bound> m_bounds;  ///< [segments] of the next step
  std::vector<char> m_listed;   ///< [segments] 1: the choice is made among what the first pass collected
  Shortlist m_shortlist;
};

}  // namespace gradcomp::kernels
