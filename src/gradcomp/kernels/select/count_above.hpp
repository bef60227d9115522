#pragma once
// Exact counts of the elements above several thresholds per segment, in one read. Searches for a threshold need them.
// Kernels ask and read the answers; the host only launches.
#include "gradcomp/kernels/lanes/tile_groups.hpp"
#include "gradcomp/kernels/select/shortlist.hpp"

namespace gradcomp::kernels {

inline constexpr int max_probes = 8;

/// Thresholds of one segment, as magnitude()s in any order; a negative one asks for nothing.
using Probes = Kokkos::Array<std::int32_t, max_probes>;
/// The number of elements with a magnitude above each threshold; 0 if it was not asked.
using Counts = Kokkos::Array<index_t, max_probes>;

KOKKOS_INLINE_FUNCTION Probes no_probes() { return {-1, -1, -1, -1, -1, -1, -1, -1}; }

namespace detail {
/// No magnitude is above this one.
inline constexpr std::int32_t beyond_all = 0x7fffffff;

/// What is read for the answers in a segment.
enum class Reads : std::int32_t {
  nothing,
  list,  ///< the shortlist, which has all elements above the probes
  all
};

/// The probes of one segment.
struct ProbeLimits {
  std::int32_t at[max_probes];
  Reads reads;
};

/// Elements above the probes, in a tile or in several: fewer than 2^32, because a message's indices have 32 bits.
struct ProbeCounts {
  std::uint32_t at[max_probes] = {};

  KOKKOS_FORCEINLINE_FUNCTION friend ProbeCounts operator+(ProbeCounts x, const ProbeCounts& y) {
    GRADCOMP_UNROLL
    for (int p = 0; p < max_probes; ++p) x.at[p] += y.at[p];
    return x;
  }
};
}  // namespace detail

/// Questions and answers of all segments; a small value type that kernels capture.
struct Counting {
  detail::ProbeLimits* limits = nullptr;        ///< [segments]
  const detail::ProbeCounts* totals = nullptr;  ///< [segments]

  KOKKOS_INLINE_FUNCTION bool asked(index_t s) const { return limits[s].reads != detail::Reads::nothing; }

  /// Sets what the next CountAbove::run() counts in segment s; if nothing is asked, the segment is not read. `low` is
  /// the bound of the shortlist: if no probe is below it, only the list is read.
  KOKKOS_INLINE_FUNCTION void ask(index_t s, const Probes& probes, std::int32_t low) const {
    detail::ProbeLimits next;
    next.reads = detail::Reads::nothing;
    for (int p = 0; p < max_probes; ++p) {
      next.at[p] = probes[p] < 0 ? detail::beyond_all : probes[p];
      if (probes[p] < 0) continue;
      if (next.reads != detail::Reads::all)
        next.reads = low >= 0 && probes[p] >= low ? detail::Reads::list : detail::Reads::all;
    }
    limits[s] = next;
  }

  /// What the last run() counted above the probes that it was asked.
  KOKKOS_INLINE_FUNCTION Counts answer(index_t s, const Probes& probes) const {
    Counts counts;
    for (int p = 0; p < max_probes; ++p) counts[p] = probes[p] >= 0 ? index_t{totals[s].at[p]} : 0;
    return counts;
  }
};

class CountAbove {
 public:
  explicit CountAbove(const Tiles& tiles);

  Counting counting() const { return {m_limits.data(), m_totals.data()}; }

  /// Counts what was asked; then counting() answers. `list` holds the collected elements of a. If the host may read the
  /// questions and there are none, nothing is read.
  void run(const Exec& exec, const Tiles& tiles, const float* a, const Runs& list, bool host_looks) const;

  index_t bytes() const;

 private:
  bool any_asked() const;

  Vector<detail::ProbeLimits> m_limits;   ///< [segments]
  Vector<detail::ProbeCounts> m_partial;  ///< [tiles]
  Vector<detail::ProbeCounts> m_totals;   ///< [segments]
};

}  // namespace gradcomp::kernels
