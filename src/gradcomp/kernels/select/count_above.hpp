#pragma once
// Exact counts of the elements above several thresholds per segment, in one read: what searches for a threshold need.
// Kernels ask and take the answers; the host only launches.
#include <limits>

#include "gradcomp/kernels/lanes/lanes.hpp"
#include "gradcomp/kernels/select/shortlist.hpp"

namespace gradcomp::kernels {

inline constexpr int max_probes = 8;

/// Thresholds of one segment, as magnitude()s and in any order; negative: not asked.
using Probes = Kokkos::Array<std::int32_t, max_probes>;
/// Elements with a magnitude above each; 0 where it was not asked.
using Counts = Kokkos::Array<index_t, max_probes>;

KOKKOS_INLINE_FUNCTION Probes no_probes() { return {-1, -1, -1, -1, -1, -1, -1, -1}; }

namespace detail {
/// The probes of one segment, asked ones first.
struct ProbeLimits {
  std::int32_t at[max_probes];
  std::int32_t listed;  ///< 1: the shortlist has all that lies above them
};
struct ProbeCounts {
  std::int32_t at[max_probes];
};
}  // namespace detail

/// Questions and answers of all segments; a small value type that kernels capture.
struct Counting {
  /// No magnitude lies above it.
  static constexpr std::int32_t beyond_all = 0x7fffffff;

  detail::ProbeLimits* limits = nullptr;         ///< [segments]
  const detail::ProbeCounts* partial = nullptr;  ///< [tiles]
  const index_t* begin = nullptr;                ///< [segments + 1] first tile

  KOKKOS_INLINE_FUNCTION bool asked(index_t s) const { return limits[s].at[0] != beyond_all; }

  /// What the next CountAbove::run() counts in segment s, which is read only where something is asked. `low`: the bound
  /// of the shortlist; where no probe lies below it, the list alone is read.
  KOKKOS_INLINE_FUNCTION void ask(index_t s, const Probes& probes, std::int32_t low) const {
    detail::ProbeLimits next;
    int used = 0;
    bool listed = low >= 0;
    for (int p = 0; p < max_probes; ++p) {
      if (probes[p] < 0) continue;
      next.at[used++] = probes[p];
      listed = listed && probes[p] >= low;
    }
    while (used < max_probes) next.at[used++] = beyond_all;
    next.listed = listed ? 1 : 0;
    limits[s] = next;
  }

  /// The counts above the probes that were asked.
  KOKKOS_INLINE_FUNCTION Counts answer(const Warp& warp, index_t s, const Probes& probes) const {
    index_t totals[max_probes];
    for (int p = 0; p < max_probes; ++p) {
      Lanes<index_t> count;
      warp.each([&](int l) {
        count[l] = 0;
        if (!asked(s)) return;
        for (index_t t = begin[s] + l; t < begin[s + 1]; t += warp_lanes) count[l] += partial[t].at[p];
      });
      totals[p] = warp.sum(count);
    }
    Counts counts;
    for (int p = 0, used = 0; p < max_probes; ++p) counts[p] = probes[p] >= 0 ? totals[used++] : 0;
    return counts;
  }
};

class CountAbove {
 public:
  explicit CountAbove(const Tiles& tiles);

  Counting counting() const { return {m_limits.data(), m_partial.data(), m_begin.data()}; }

  /// Counts what was asked; `list`: of a. Where the host looks and nothing was asked, nothing is launched.
  void run(const Exec& exec, const Tiles& tiles, const float* a, const Runs& list, bool host_looks) const;

  index_t bytes() const;

 private:
  Vector<detail::ProbeLimits> m_limits;   ///< [segments]
  Vector<detail::ProbeCounts> m_partial;  ///< [tiles]
  Vector<index_t> m_begin;
};

/// counts(s) = what lies above probes(s), for those who search nothing. Both [segments].
void count_once(const Exec& exec, const CountAbove& above, const Tiles& tiles, const float* a, const Shortlist& list,
                const Vector<Probes>& probes, const Vector<Counts>& counts);

}  // namespace gradcomp::kernels
