#pragma once
// The first pass of a sparsifier: feedback, statistics of every segment and a sample, in one sweep (2 reads and 1 write
// of n floats with a residual, 1 read without).
#include <vector>

#include "gradcomp/core/source.hpp"
#include "gradcomp/core/tally.hpp"
#include "gradcomp/kernels/lanes/tiles.hpp"
#include "gradcomp/kernels/select/candidates.hpp"

namespace gradcomp::kernels {

/// Statistics of a = Source::accumulate(). Sums: float lanes in a tile, then tiles in order in double.
struct Moments {
  double sum = 0;  ///< of a with its sign; the others are of |a|
  double sum_abs = 0;
  double sum_squares = 0;  ///< overflows (underflows) from |a| = 1e19 (1e-19) on; sum_abs does not
  index_t nonzeros = 0;
  index_t non_finite = 0;     ///< gradient elements that were not finite (or overflowed their memory)
  std::int32_t max_bits = 0;  ///< magnitude() of the largest
  double sum_logs = 0;        ///< of ln |a| over the nonzeros; 0 unless asked for
  index_t candidates = 0;     ///< elements above the collector's bound
};

namespace detail {
/// Statistics of one tile.
struct TileMoments {
  float sum, sum_abs, sum_squares;
  std::int32_t nonzeros, non_finite, max_bits;
  double sum_logs;
  std::int32_t candidates;
};
}  // namespace detail

/// The pass and its work space, made in prepare().
class FirstPass {
 public:
  /// `logs`: whether Moments::sum_logs is wanted.
  explicit FirstPass(const Tiles& tiles, bool logs = false);

  /// Forms a for the whole source, its statistics and what `collector` asks for, where `gate` is open.
  void launch(const Exec& exec, const Tiles& tiles, const Source& source, const Collector& collector = {},
              const Gate& gate = {});
  /// [segments] of the last launch().
  const Vector<Moments>& on_device() const { return m_moments; }
  /// Non-finite elements in all segments of the last launch(), where the host may look.
  index_t seen_non_finite() const;

  /// launch(), and the statistics on the host, which steers what follows. Waits for exec.
  void run(const Exec& exec, const Tiles& tiles, const Source& source, const Collector& collector = {});
  /// [segments] of the last run().
  const std::vector<Moments>& moments() const { return m_host; }
  /// Non-finite elements in all segments of the last run().
  index_t non_finite() const;

  /// Magnitudes' sample: 32 values of a from each tile, at warp_lanes * tile; one row, at a place that differs from
  /// tile to tile so that periodic data does not alias. A tile shorter than 32 gives what it has.
  const Vector<float>& sample() const { return m_sample; }

  index_t bytes() const;

 private:
  bool m_logs;
  Vector<detail::TileMoments> m_partial;
  Vector<Moments> m_moments;
  Vector<float> m_sample;
  std::vector<Moments> m_host;
};

/// Elements of tile `t`, `count` long, that the sample holds: [first, first + size).
struct SampleRow {
  std::int32_t first, size;
};
KOKKOS_INLINE_FUNCTION SampleRow sample_row(index_t t, std::int32_t count) {
  constexpr std::int32_t row = 32;
  if (count < row) return {0, count};
  const auto hash = static_cast<std::uint32_t>(t) * 0x9e3779b1u >> 16;  // Knuth's multiplicative hash
  return {static_cast<std::int32_t>(hash % static_cast<std::uint32_t>(count / row)) * row, row};
}

}  // namespace gradcomp::kernels
