#pragma once
// Chooses the entries of every segment of a bucket: those above a threshold, or exactly the k largest.
//
// An exact choice takes a bound from a sample (FirstPass) that is almost certainly below the k-th magnitude. One read
// collects the candidates above the bound. A histogram of the candidates finds an interval with few values in which the
// k-th magnitude lies; these are listed and ranked, which also tells how many ties are taken. If the bound was too
// high, the segment is searched again without a bound. If a threshold lets too many or too few entries through, the
// same search replaces it. The entries are the same for any number of threads and on every device.
//
// In later steps, expect() lets the first pass collect the elements above a bound that is a little below the last
// threshold, so that the choice needs no read of its own. If this bound was too high, the choice continues as in the
// first step. The bound decides how long a choice takes, but never what is chosen.
//
// Questions, results and decisions about a segment stay on the device. The host launches on a device what the last step
// needed, and waits once, for the sizes. If that was not enough (for other data, or if a threshold lets too many
// entries through), it launches everything and waits again, at most three times. A host that may read the results of
// kernels at once launches only what is needed.
#include <vector>

#include "gradcomp/core/shared.hpp"
#include "gradcomp/kernels/select/choices.hpp"
#include "gradcomp/kernels/select/radix.hpp"
#include "gradcomp/kernels/select/shortlist.hpp"

namespace gradcomp::kernels {

class Selector {
 public:
  /// `density`: the share of elements that is usually kept. `spare`: expect() collects about this many candidates per
  /// kept entry. Only the speed depends on both.
  Selector(const Tiles& tiles, double density, double spare = 1.2);

  /// What FirstPass has to collect in this step. Without this call, the choice is made as in a first step.
  Collector expect(const Source& source);
  /// What FirstPass collected. Call it between FirstPass::launch() and choose().
  Shortlist shortlist(const Tiles& tiles, const FirstPass& first) const;

  /// [segments], which kernels write before choose().
  const Vector<Selection>& selections() const { return m_selections; }
  /// Chooses among a = source.accumulated(), directly after `first` ran over the same source. Waits for exec.
  void choose(const Exec& exec, const Tiles& tiles, const Source& source, const FirstPass& first,
              bool host_looks = device_is_host);
  /// The same for selections that the host knows.
  void choose(const Exec& exec, const Tiles& tiles, const Source& source, const FirstPass& first,
              const std::vector<Selection>& selections);

  /// The results of the last choose(): [segments].
  const Shared<Chosen>& chosen() const { return m_chosen; }
  /// The number of entries that the last choose() chose in all segments.
  index_t kept() const { return m_outcome(0).kept; }
  /// The number of non-finite elements that the first pass found. If there are any, the choice is meaningless.
  index_t non_finite() const { return m_outcome(0).non_finite; }

  /// Writes kept() ascending indices, relative to the bucket, and their values. Reports each entry to the source as
  /// sent exactly.
  void emit(const Exec& exec, const Tiles& tiles, const Source& source, std::uint32_t* indices, float* values);

  index_t bytes() const;

 private:
  detail::Choices choices(const FirstPass& first) const;
  void round(const Exec& exec, const Tiles& tiles, const Source& source, const FirstPass& first, std::uint32_t phases);

  Candidates m_candidates;
  Radix m_radix;
  double m_spare;
  bool m_expecting = false;                    ///< whether the last first pass collected
  std::uint32_t m_usual = detail::all_phases;  ///< phases that the last step needed
  Vector<Selection> m_selections;              ///< [segments], like the other arrays
  Vector<SegmentSearch> m_searches;
  Vector<index_t> m_totals, m_elements, m_sampled;
  Vector<detail::Progress> m_progress;
  Vector<std::int32_t> m_low, m_margin;  ///< bounds of the next first pass
  Shared<Chosen> m_chosen;
  Shared<detail::Outcome> m_outcome;  ///< [1]
};

}  // namespace gradcomp::kernels
