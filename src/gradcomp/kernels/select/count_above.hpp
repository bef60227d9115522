#pragma once
// Exact counts of the elements above several thresholds per segment, in one read. Searches for a threshold need them.
// Kernels ask and read the answers; the host only launches.
#include <limits>

#include "gradcomp/kernels/lanes/lanes.hpp"
#include "gradcomp/kernels/select/shortlist.hpp"

namespace gradcomp::kernels {

inline constexpr int max_probes = 8;

/// Thresholds of one segment, as magnitude()s in any order; a negative one asks for nothing.
using Probes = Kokkos::Array<std::int32_t, max_probes>;
/// The number of elements with a magnitude above each threshold; 0 if it was not asked.
using Counts = Kokkos::Array<index_t, max_probes>;

KOKKOS_INLINE_FUNCTION Probes no_probes() { return {-1, -1, -1, -1, -1, -1, -1, -1}; }

namespace detail {
/// The probes of one segment, with those that are asked first.
struct ProbeLimits {
  std::int32_t at[max_probes];
  std::int32_t listed;  ///< 1: the shortlist has all elements above them
};
struct ProbeCounts {
  std::int32_t at[max_probes];
};
}  // namespace detail

/// Questions and answers of all segments; a small value type that kernels capture.
struct Counting {
  /// No magnitude is above this one.
  static constexpr std::int32_t beyond_all = 0x7fffffff;

  detail::ProbeLimits* limits = nullptr;         ///< [segments]
  const detail::ProbeCounts* partial = nullptr;  ///< [tiles]
  const index_t* begin = nullptr;                ///< [segments + 1] first tile

  KOKKOS_INLINE_FUNCTION bool asked(index_t s) const { return limits[s].at[0] != beyond_all; }

  /// Sets what the next CountAbove::run() counts in segment s; if nothing is asked, the segment is not read. `low` is
  /// the bound of the shortlist: if no probe is below it, only the list is read.
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

  /// The counts above the probes.
  KOKKOS_INLINE_FUNCTION Counts answer(const Warp& warp, index_t s, const Probes& probes) const {
    Lanes<index_t> count[max_probes];
    const index_t end = asked(s) ? begin[s + 1] : begin[s];
    warp.each([&](int l) {
      for (int p = 0; p < max_probes; ++p) count[p][l] = 0;
      const auto load = [&](index_t t) { return partial[t]; };
      each_of_lane(l, begin[s], end, load, [&](const detail::ProbeCounts& part) {
        for (int p = 0; p < max_probes; ++p) count[p][l] += part.at[p];
      });
    });
    index_t totals[max_probes];
    for (int p = 0; p < max_probes; ++p) totals[p] = warp.sum(count[p]);
    Counts counts;
    for (int p = 0, used = 0; p < max_probes; ++p) counts[p] = probes[p] >= 0 ? totals[used++] : 0;
    return counts;
  }
};

class CountAbove {
 public:
  explicit CountAbove(const Tiles& tiles);

  Counting counting() const { return {m_limits.data(), m_partial.data(), m_begin.data()}; }

  /// Counts what was asked; `list` holds the collected elements of a. If the host may read the questions and there are
  /// none, nothing is launched.
  void run(const Exec& exec, const Tiles& tiles, const float* a, const Runs& list, bool host_looks) const;

  index_t bytes() const;

 private:
  Vector<detail::ProbeLimits> m_limits;   ///< [segments]
  Vector<detail::ProbeCounts> m_partial;  ///< [tiles]
  Vector<index_t> m_begin;
};

/// counts(s) = the numbers of elements above probes(s), without a search. Both are [segments].
void count_once(const Exec& exec, const CountAbove& above, const Tiles& tiles, const float* a, const Shortlist& list,
                const Vector<Probes>& probes, const Vector<Counts>& counts);

}  // namespace gradcomp::kernels
