#include "gradcomp/kernels/random/random_subset.hpp"

#include "gradcomp/kernels/lanes/note.hpp"
#include "gradcomp/kernels/lanes/source_rows.hpp"

namespace gradcomp::kernels {

Subset draw_subset(const Segment& segment, index_t count, index_t entry, std::uint64_t seed, std::int64_t step,
                   std::uint32_t rank) {
  Subset subset{segment.offset, segment.count, count, entry, stream_key(seed, segment.id, step, rank)};
  const Array4 bits = threefry4x32_12(subset.key, stream_counter(0, random_stream::selection, 1));
  subset.shift = random_below(bits.x0, bits.x1, segment.count);
  if (count > 0) {
    subset.whole = segment.count / count;
    subset.rest = segment.count % count;
    subset.inverse = 1 / static_cast<double>(count);
  }
  return subset;
}

void touch_subsets(const Exec& exec, const Tiles& tiles, const Vector<Subset>& subsets, const Source& source,
                   const Span<float>& values, const Mark& mark) {
  const auto tile = tiles.tile;
  for_warps(
      "gradcomp::kernels::touch_subsets", exec, tiles.count(), KOKKOS_LAMBDA(const Warp& warp, index_t t) {
        const Tile here = tile(t);
        const Subset subset = subsets(here.segment);
        Lanes<std::int32_t> bad;
        warp.each([&](int l) { bad[l] = 0; });
        accumulate_rows(warp, source, here.first, here.count, bad, [](int, float, int) {});
        warp.sync();
        for_entries(warp, subset, here.first, here.count, [&](index_t j, index_t index) {
          const float a = source.load(index);
          values(subset.entry + j) = a;
          source.sent(index, a, a);
        });
        note_bad(warp, bad, mark);
      });
}

void spread_subsets(const Exec& exec, const Tiles& tiles, const Vector<Subset>& subsets, const Vector<float>& weights,
                    const Span<const float>& values, const Span<float>& out) {
  const auto tile = tiles.tile;
  for_warps(
      "gradcomp::kernels::spread_subsets", exec, tiles.count(), KOKKOS_LAMBDA(const Warp& warp, index_t t) {
        const Tile here = tile(t);
        const Subset subset = subsets(here.segment);
        const float weight = weights(here.segment);
        float* const x = out.data() + here.first;
        fill_zero(warp, x, here.count);
        warp.sync();
        for_entries(warp, subset, here.first, here.count,
                    [&](index_t j, index_t index) { out(index) += weight * values(subset.entry + j); });
      });
}

void gather_subsets(const Exec& exec, const Tiles& entries, const Vector<Subset>& subsets, const Source& source,
                    const Span<float>& values) {
  const auto tile = entries.tile;
  for_warps(
      "gradcomp::kernels::gather_subsets", exec, entries.count(), KOKKOS_LAMBDA(const Warp& warp, index_t t) {
        const Tile here = tile(t);
        const Subset subset = subsets(here.segment);
        for (std::int32_t row = 0; row < here.count; row += warp_lanes) {
          Lanes<index_t> index;
          const index_t entry = here.first + row;
          warp.each([&](int l) { index[l] = subset_index(subset, entry + l - subset.entry); });
          warp.each([&](int l) {
            if (row + l >= here.count) return;
            const float a = source.load(index[l]);
            values(entry + l) = a;
            source.sent(index[l], a, a);
          });
        }
      });
}

void scatter_subsets(const Exec& exec, const Tiles& entries, const Vector<Subset>& subsets,
                     const Vector<float>& weights, const Span<const float>& values, const Span<float>& out) {
  const auto tile = entries.tile;
  for_warps(
      "gradcomp::kernels::scatter_subsets", exec, entries.count(), KOKKOS_LAMBDA(const Warp& warp, index_t t) {
        const Tile here = tile(t);
        const Subset subset = subsets(here.segment);
        const float weight = weights(here.segment);
        for (std::int32_t row = 0; row < here.count; row += warp_lanes) {
          Lanes<index_t> index;
          const index_t entry = here.first + row;
          warp.each([&](int l) { index[l] = subset_index(subset, entry + l - subset.entry); });
          warp.each([&](int l) {
            if (row + l < here.count) out(index[l]) += weight * values(entry + l);
          });
        }
      });
}

}  // namespace gradcomp::kernels
