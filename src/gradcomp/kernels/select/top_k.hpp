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
//
// What is asked, found and decided of a segment stays on the device. A device is given what the last step needed, and
// the host waits once, for the sizes; where that was not enough (another kind of data, a threshold that lets too many
// through) it is given all, and the host waits again: three times more at most. A host that looks launches what is
// needed, no more.
#include <vector>

#include "gradcomp/core/shared.hpp"
#include "gradcomp/kernels/select/choices.hpp"
#include "gradcomp/kernels/select/radix.hpp"
#include "gradcomp/kernels/select/shortlist.hpp"

namespace gradcomp::kernels {

class Selector {
 public:
  /// `density`: the share of elements usually kept; `spare`: how many times what is kept expect() collects at least.
  /// Only speed depends on them.
  Selector(const Tiles& tiles, double density, double spare = 1.2);

  /// What FirstPass is to collect in this step. Not calling it is as if there were no step before.
  Collector expect(const Source& source);
  /// What came of it; to be called between FirstPass::launch() and choose().
  Shortlist shortlist(const Tiles& tiles, const FirstPass& first) const;

  /// [segments] of this step, to be written by kernels before choose().
  const Vector<Selection>& selections() const { return m_selections; }
  /// Decides, for a = source.accumulated() right after `first` ran over the same source. Waits for exec.
  void choose(const Exec& exec, const Tiles& tiles, const Source& source, const FirstPass& first,
              bool host_looks = device_is_host);
  /// The same for selections that the host knows.
  void choose(const Exec& exec, const Tiles& tiles, const Source& source, const FirstPass& first,
              const std::vector<Selection>& selections);

  /// Of the last choose(): [segments] and in all.
  const Shared<Chosen>& chosen() const { return m_chosen; }
  index_t kept() const { return m_outcome(0).kept; }
  /// Non-finite elements that the first pass found. Where there are any, what was chosen means nothing.
  index_t non_finite() const { return m_outcome(0).non_finite; }

  /// Writes kept() bucket-relative indices, ascending, and their values; reports each to the source as sent exactly.
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
  Vector<Selection> m_selections;              ///< [segments], as the rest
  Vector<SegmentSearch> m_searches;
  Vector<index_t> m_totals, m_elements, m_sampled;
  Vector<detail::Progress> m_progress;
  Vector<std::int32_t> m_low, m_margin;  ///< bounds of the next first pass
  Shared<Chosen> m_chosen;
  Shared<detail::Outcome> m_outcome;  ///< [1]
};

}  // namespace gradcomp::kernels
