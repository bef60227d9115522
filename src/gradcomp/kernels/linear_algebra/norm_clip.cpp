#include "gradcomp/kernels/linear_algebra/norm_clip.hpp"

#include <algorithm>
#include <cassert>

#include "gradcomp/kernels/lanes/lanes.hpp"
#include "gradcomp/kernels/lanes/tiles.hpp"

namespace gradcomp::kernels {

namespace {

index_t tiles_of(index_t count) { return (count + tile_size - 1) / tile_size; }

}  // namespace

NormClip::NormClip(const std::vector<index_t>& parts) : m_scale("gradcomp::kernels::clip_scale", 1) {
  index_t offset = 0, tile = 0;
  for (const index_t count : parts) {
    m_parts.push_back({offset, count, tile});
    offset += count;
    tile += tiles_of(count);
  }
  m_partial = Vector<double>("gradcomp::kernels::clip_partial", static_cast<std::size_t>(tile));
}

void NormClip::observe(const Exec& exec, index_t offset, const Span<const float>& gradient) const {
  const auto part =
      std::find_if(m_parts.begin(), m_parts.end(), [&](const Part& p) { return p.offset == offset && p.count > 0; });
  const auto count = static_cast<index_t>(gradient.extent(0));
  if (count == 0) return;
  assert(part != m_parts.end() && part->count == count);
  const index_t first = part->tile;
  const auto partial = m_partial;
  for_warps(
      "gradcomp::kernels::sum_of_squares", exec, tiles_of(count), KOKKOS_LAMBDA(const Warp& warp, index_t t) {
        const float* x = gradient.data() + t * tile_size;
        const index_t left = count - t * tile_size;
        Lanes<double> sum;
        warp.each([&](int l) { sum[l] = 0; });
        each_element(warp, left < tile_size ? left : tile_size,
                     [&](int l, index_t e) { sum[l] += static_cast<double>(x[e]) * static_cast<double>(x[e]); });
        const double total = warp.sum(sum);
        warp.once([&] { partial(first + t) = total; });
      });
}

void NormClip::scale(const Exec& exec, const Span<float>& gradient, double limit) const {
  const auto count = static_cast<index_t>(gradient.extent(0));
  const auto tiles = static_cast<index_t>(m_partial.extent(0));
  const auto partial = m_partial;
  const auto scale = m_scale;
  for_warps(
      "gradcomp::kernels::clip_scale", exec, 1, KOKKOS_LAMBDA(const Warp& warp, index_t) {
        Lanes<double> sum;
        warp.each([&](int l) {
          sum[l] = 0;
          const auto load = [&](index_t t) { return partial(t); };
          each_of_lane<8>(l, 0, tiles, load, [&](double part) { sum[l] += part; });
        });
        const double norm = Kokkos::sqrt(warp.sum(sum));
        warp.once([&] { scale(0) = norm > limit ? static_cast<float>(limit / norm) : 1.0F; });
      });
  Kokkos::parallel_for(
      "gradcomp::kernels::clip", IndexRange(exec, 0, count),
      KOKKOS_LAMBDA(const index_t i) { gradient(i) *= scale(0); });
}

}  // namespace gradcomp::kernels
