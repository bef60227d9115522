#include "gradcomp/kernels/moments.hpp"

#include "gradcomp/kernels/source_rows.hpp"

namespace gradcomp::kernels {

using detail::TileMoments;

FirstPass::FirstPass(const Tiles& tiles)
    : m_partial(Kokkos::view_alloc(Kokkos::WithoutInitializing, "gradcomp::kernels::moments_partial"),
                static_cast<std::size_t>(tiles.count())),
      m_moments("gradcomp::kernels::moments", static_cast<std::size_t>(tiles.segments())),
      m_sample("gradcomp::kernels::sample", static_cast<std::size_t>(tiles.count() * warp_lanes)),
      m_host(static_cast<std::size_t>(tiles.segments())) {}

void FirstPass::run(const Exec& exec, const Tiles& tiles, const Source& source) {
  const auto tile = tiles.tile;
  const auto begin = tiles.begin;
  const auto partial = m_partial;
  const auto moments = m_moments;
  const auto sample = m_sample;

  for_warps(
      "gradcomp::kernels::first_pass", exec, tiles.count(), KOKKOS_LAMBDA(const Warp& warp, index_t t) {
        const Tile here = tile(t);
        const SampleRow sampled = sample_row(t, here.count);
        Lanes<float> sum, squares;
        Lanes<std::int32_t> nonzeros, bad, most;
        warp.each([&](int l) {
          sum[l] = squares[l] = 0;
          nonzeros[l] = bad[l] = most[l] = 0;
        });
        for (std::int32_t row = 0; row < here.count; row += warp_lanes) {
          Lanes<float> a;
          first_row(warp, source, here.first + row, here.count - row, a, bad);
          warp.each([&](int l) {
            const std::int32_t bits = magnitude(a[l]);
            const float x = Kokkos::bit_cast<float>(bits);
            sum[l] += x;
            squares[l] += x * x;
            nonzeros[l] += bits != 0 ? 1 : 0;
            most[l] = bits > most[l] ? bits : most[l];
          });
          if (row == sampled.first) store_row(warp, &sample(t * warp_lanes), sampled.size, a);
        }
        const TileMoments result{warp.sum(sum), warp.sum(squares), warp.sum(nonzeros), warp.sum(bad), warp.max(most)};
        warp.once([&] { partial(t) = result; });
      });

  for_warps(
      "gradcomp::kernels::combine_moments", exec, tiles.segments(), KOKKOS_LAMBDA(const Warp& warp, index_t s) {
        Lanes<double> sum, squares;
        Lanes<index_t> nonzeros, bad;
        Lanes<std::int32_t> most;
        warp.each([&](int l) {
          sum[l] = squares[l] = 0;
          nonzeros[l] = bad[l] = 0;
          most[l] = 0;
          for (index_t t = begin(s) + l; t < begin(s + 1); t += warp_lanes) {
            const TileMoments& p = partial(t);
            sum[l] += static_cast<double>(p.sum_abs);
            squares[l] += static_cast<double>(p.sum_squares);
            nonzeros[l] += p.nonzeros;
            bad[l] += p.non_finite;
            most[l] = p.max_bits > most[l] ? p.max_bits : most[l];
          }
        });
        const Moments result{warp.sum(sum), warp.sum(squares), warp.sum(nonzeros), warp.sum(bad), warp.max(most)};
        warp.once([&] { moments(s) = result; });
      });

  Kokkos::deep_copy(exec, HostSpan<Moments>(m_host.data(), m_host.size()), m_moments);
  exec.fence("gradcomp::kernels::FirstPass::run");
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
