#include "gradcomp/kernels/select/moments.hpp"

#include "gradcomp/core/read_back.hpp"
#include "gradcomp/core/shared.hpp"
#include "gradcomp/kernels/lanes/tile_groups.hpp"
#include "gradcomp/kernels/select/candidate_rows.hpp"

namespace gradcomp::kernels {

using detail::TileMoments;

namespace {

/// Sums of logarithms of magnitudes, with one logarithm per lane: significands in [2^-1/2, 2^1/2) are multiplied, and
/// exponents are added. Products of 128 significands (a lane's part of a tile) neither overflow nor underflow.
struct LogLanes {
  Lanes<float> product;
  Lanes<std::int32_t> exponent;

  KOKKOS_FORCEINLINE_FUNCTION explicit LogLanes(const Warp& warp) {
    warp.each([&](int l) {
      product[l] = 1;
      exponent[l] = 0;
    });
  }

  /// Takes in a magnitude() of lane l. Denormals are allowed; zeros count as 1.
  KOKKOS_FORCEINLINE_FUNCTION void multiply(int l, std::int32_t magnitude_bits) {
    const float x = Kokkos::bit_cast<float>(magnitude_bits);
    const bool tiny = x < 0x1p-100f, zero = x == 0;
    const float scaled = tiny ? x * 0x1p64f : x;
    const auto bits = Kokkos::bit_cast<std::int32_t>(zero ? 1.0f : scaled);
    const std::int32_t power = (bits - 0x3f3504f3) >> 23;  // the bits of 2^-1/2
    product[l] *= Kokkos::bit_cast<float>(bits - power * 0x800000);
    exponent[l] += power - (tiny && !zero ? 64 : 0);
  }

  KOKKOS_FORCEINLINE_FUNCTION double sum(const Warp& warp) const {
    Lanes<double> logs;
    warp.each([&](int l) {
      logs[l] = Kokkos::log(static_cast<double>(product[l])) + Kokkos::numbers::ln2_v<double> * exponent[l];
    });
    return warp.sum(logs);
  }
};

/// The sweep over all tiles, and what follows for each segment.
template <Statistics wanted>
void sweep(const Exec& exec, const Tiles& tiles, const Source& source, const Collector& collector,
           const Vector<TileMoments>& partial, const Vector<float>& sample, const Vector<Moments>& moments) {
  const auto tile = tiles.tile;
  const auto begin = tiles.begin;
  for_tiles_then(
      "gradcomp::kernels::first_pass", exec, tiles,
      KOKKOS_LAMBDA(const Warp& warp, index_t t) {
        constexpr bool magnitudes = wanted >= Statistics::magnitudes, sums = wanted >= Statistics::sums,
                       with_logs = wanted >= Statistics::logs;
        const Tile here = tile(t);
        const SampleRow sampled = sample_row(t, here.count);
        const std::int32_t low = collector.low == nullptr ? no_bound : collector.low[here.segment];
        const float* const a_of_tile = source.accumulated() + here.first;
        const index_t mine = low != no_bound ? t * collector.stride : 0;
        TileSlots slots{collector.values + mine, collector.offsets + mine, collector.slots, low};
        Lanes<float> sum, sum_abs, squares;
        Lanes<std::int32_t> nonzeros, bad, most;
        LogLanes logs(warp);
        warp.each([&](int l) {
          sum[l] = sum_abs[l] = squares[l] = 0;
          nonzeros[l] = bad[l] = most[l] = 0;
        });
        accumulate_rows(
            warp, source, here.first, here.count, bad,
            [&](int l, float a, int) {
              const std::int32_t bits = magnitude(a);
              const float x = Kokkos::bit_cast<float>(bits);
              if (sums) sum[l] += a;
              if (magnitudes) {
                sum_abs[l] += x;
                squares[l] += x * x;
              }
              nonzeros[l] += bits != 0 ? 1 : 0;
              most[l] = bits > most[l] ? bits : most[l];
              if (with_logs) logs.multiply(l, bits);
            },
            [&](index_t e, index_t count) {  // these elements are still in the first-level cache
              if (low != no_bound)
                slots.collect(warp, a_of_tile + e, static_cast<std::int32_t>(e), static_cast<std::int32_t>(count));
            });
        Lanes<float> drawn;
        load_finite_row(warp, source, here.first + sampled.first, sampled.size, drawn);
        store_row(warp, &sample(t * warp_lanes), sampled.size, drawn);
        if (low != no_bound) {
          warp.once([&] {
            collector.staged[t] = collector.above[t] = slots.found;
            collector.equal[t] = 0;
          });
        }
        const TileMoments result{warp.sum(sum),
                                 warp.sum(sum_abs),
                                 warp.sum(squares),
                                 warp.sum(nonzeros),
                                 warp.sum(bad),
                                 warp.max(most),
                                 with_logs ? logs.sum(warp) : 0.0,
                                 slots.found};
        warp.once([&] { partial(t) = result; });
      },
      KOKKOS_LAMBDA(const Block& block, index_t s) {
        const Moments result = sum_over<Moments>(block, begin(s), begin(s + 1), [&](index_t t) {
          const TileMoments p = partial(t);
          return Moments{p.sum,        p.sum_abs,  p.sum_squares, p.nonzeros,
                         p.non_finite, p.max_bits, p.sum_logs,    p.candidates};
        });
        block.once([&] { moments(s) = result; });
      });
}

}  // namespace

FirstPass::FirstPass(const Tiles& tiles, Statistics wanted)
    : m_wanted(wanted),
      m_partial(Kokkos::view_alloc(Kokkos::WithoutInitializing, "gradcomp::kernels::moments_partial"),
                static_cast<std::size_t>(tiles.count())),
      m_moments("gradcomp::kernels::moments", static_cast<std::size_t>(tiles.segments())),
      m_sample("gradcomp::kernels::sample", static_cast<std::size_t>(tiles.count() * warp_lanes)),
      m_host(static_cast<std::size_t>(tiles.segments())) {}

void FirstPass::launch(const Exec& exec, const Tiles& tiles, const Source& source, const Collector& collector) {
  const auto launch_sweep = m_wanted == Statistics::largest      ? sweep<Statistics::largest>
                            : m_wanted == Statistics::magnitudes ? sweep<Statistics::magnitudes>
                            : m_wanted == Statistics::sums       ? sweep<Statistics::sums>
                                                                 : sweep<Statistics::logs>;
  launch_sweep(exec, tiles, source, collector, m_partial, m_sample, m_moments);
}

void FirstPass::run(const Exec& exec, const Tiles& tiles, const Source& source, const Collector& collector) {
  launch(exec, tiles, source, collector);
  read_back(exec, Span<const Moments>(m_moments), m_host.data(), "gradcomp::kernels::FirstPass::run");
}

index_t FirstPass::seen_non_finite() const {
  const auto seen = seen_by_host(m_moments);
  index_t total = 0;
  for (std::size_t s = 0; s < seen.size(); ++s) total += seen(s).non_finite;
  return total;
}

index_t FirstPass::non_finite() const {
  index_t total = 0;
  for (const auto& m : m_host) total += m.non_finite;
  return total;
}

index_t FirstPass::bytes() const {
  return static_cast<index_t>(m_partial.size() * sizeof(TileMoments) + m_moments.size() * sizeof(Moments) +
                              m_sample.size() * sizeof(float));
}

}  // namespace gradcomp::kernels
