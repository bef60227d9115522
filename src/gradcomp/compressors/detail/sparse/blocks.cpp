#include "gradcomp/compressors/detail/sparse/blocks.hpp"

#include <algorithm>

#include "gradcomp/compressors/detail/sparse/density.hpp"
#include "gradcomp/core/copies.hpp"
#include "gradcomp/core/read_back.hpp"
#include "gradcomp/kernels/lanes/source_rows.hpp"

namespace gradcomp::compressors {
namespace {

using kernels::Lanes;
using kernels::Warp;

/// Elements [first, first + count) of the bucket, one block of `segment`.
struct Block {
  index_t segment, first, count;
};

/// The block with this number. Its segment is the last one that begins at or before it, since empty segments end where
/// they begin.
KOKKOS_INLINE_FUNCTION Block block_of(const SegmentBlocks* segments, index_t count, index_t number) {
  index_t low = 0, high = count - 1;
  while (low < high) {
    const index_t middle = (low + high + 1) / 2;
    if (segments[middle].first_block <= number) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  const SegmentBlocks& s = segments[low];
  const index_t begin = (number - s.first_block) * s.length;
  return {low, s.first + begin, Kokkos::min(s.length, s.elements - begin)};
}

/// Place of the values of block j of the message.
KOKKOS_INLINE_FUNCTION index_t place_of(const SegmentBlocks& s, index_t j) {
  return s.first_value + (j - s.first_chosen) * s.length;
}

}  // namespace

BlockPlan::BlockPlan(const Layout& layout, index_t block_length, double ratio) {
  for (const auto& segment : layout.segments) {
    SegmentBlocks s;
    s.first = segment.offset;
    s.elements = segment.count;
    s.length = std::min(block_length, segment.count);
    s.first_block = scores.count();
    const index_t blocks = s.length == 0 ? 0 : (s.elements + s.length - 1) / s.length;
    s.chosen = target_kept(ratio, blocks);
    s.first_chosen = chosen;
    s.first_value = values;
    chosen += s.chosen;
    values += s.chosen * s.length;
    scores.add(segment.name, {blocks});
    on_host.push_back(s);
  }
  segments = upload("gradcomp::compressors::blocks", on_host);
}

void score_blocks(const Exec& exec, const BlockPlan& plan, const Source& source, BlockScore kind, float limit,
                  const Vector<index_t>& bad, const Span<float>& scores) {
  const auto segments = plan.segments;
  const auto count = static_cast<index_t>(segments.size());
  Kokkos::deep_copy(exec, bad, index_t{0});
  kernels::for_warps(
      "gradcomp::compressors::score_blocks", exec, plan.blocks(), KOKKOS_LAMBDA(const Warp& warp, index_t b) {
        const Block block = block_of(segments.data(), count, b);
        Lanes<double> total;
        Lanes<std::int32_t> wrong;
        warp.each([&](int l) {
          total[l] = 0;
          wrong[l] = 0;
        });
        for (index_t row = 0; row < block.count; row += kernels::warp_lanes) {
          Lanes<float> a;
          kernels::accumulate_row(warp, source, block.first + row, static_cast<int>(block.count - row), a, wrong);
          if (kind == BlockScore::l2) {
            warp.each([&](int l) { total[l] += static_cast<double>(a[l]) * static_cast<double>(a[l]); });
          } else if (kind == BlockScore::l1) {
            warp.each([&](int l) { total[l] += static_cast<double>(Kokkos::abs(a[l])); });
          } else {
            warp.each([&](int l) {
              const auto x = static_cast<double>(Kokkos::abs(a[l]));
              total[l] = x > total[l] ? x : total[l];
            });
          }
        }
        const double sum = kind == BlockScore::max ? warp.max(total) : warp.sum(total);
        const double size = kind == BlockScore::l2 ? Kokkos::sqrt(sum) : sum;
        const std::int32_t non_finite = warp.sum(wrong);
        warp.once([&] {
          scores(b) = size < static_cast<double>(limit) ? static_cast<float>(size) : limit;
          if (non_finite > 0) Kokkos::atomic_add(&bad(0), index_t{1});
        });
      });
  if (plan.blocks() == 0) return;
  Kokkos::parallel_for(
      "gradcomp::compressors::poison_scores", IndexRange(exec, 0, 1), KOKKOS_LAMBDA(const index_t) {
        if (bad(0) > 0) scores(0) = Kokkos::Experimental::quiet_NaN_v<float>;
      });
}

void gather_blocks(const Exec& exec, const BlockPlan& plan, const Span<const std::uint32_t>& chosen,
                   const Source& source, const Span<float>& values) {
  const auto segments = plan.segments;
  const auto count = static_cast<index_t>(segments.size());
  kernels::for_warps(
      "gradcomp::compressors::gather_blocks", exec, plan.chosen, KOKKOS_LAMBDA(const Warp& warp, index_t j) {
        const Block block = block_of(segments.data(), count, chosen(j));
        const SegmentBlocks& s = segments(block.segment);
        float* const to = values.data() + place_of(s, j);
        for (index_t row = 0; row < s.length; row += kernels::warp_lanes) {
          const auto active = static_cast<int>(block.count - row);  // padding if not positive
          const index_t i = block.first + row;
          Lanes<float> a;
          kernels::load_row(warp, source.accumulated() + i, active, a);
          kernels::store_row(warp, to + row, static_cast<int>(s.length - row), a);
          if (active > 0) kernels::sent_row(warp, source, i, active, a, a);
        }
      });
}

void scatter_blocks(const Exec& exec, const BlockPlan& plan, const Span<const std::uint32_t>& chosen,
                    const Span<const float>& values, float weight, const Span<float>& out) {
  const auto segments = plan.segments;
  const auto count = static_cast<index_t>(segments.size());
  kernels::for_warps(
      "gradcomp::compressors::scatter_blocks", exec, plan.chosen, KOKKOS_LAMBDA(const Warp& warp, index_t j) {
        const Block block = block_of(segments.data(), count, chosen(j));
        const float* const from = values.data() + place_of(segments(block.segment), j);
        for (index_t row = 0; row < block.count; row += kernels::warp_lanes) {
          const auto active = static_cast<int>(block.count - row);
          float* const to = out.data() + block.first + row;
          Lanes<float> x, y;
          kernels::load_row(warp, from + row, active, x);
          kernels::load_row(warp, to, active, y);
          warp.each([&](int l) { y[l] += weight * x[l]; });
          kernels::store_row(warp, to, active, y);
        }
      });
}

index_t count_bad_blocks(const Exec& exec, const BlockPlan& plan, const Span<const std::uint32_t>& chosen) {
  const auto segments = plan.segments;
  const auto count = static_cast<index_t>(segments.size());
  const index_t blocks = plan.blocks();
  index_t bad = 0;
  Kokkos::parallel_reduce(
      "gradcomp::compressors::count_bad_blocks", IndexRange(exec, 0, plan.chosen),
      KOKKOS_LAMBDA(index_t j, index_t & sum) {
        const index_t number = chosen(j);
        bool good = number < blocks && (j == 0 || chosen(j - 1) < chosen(j));
        if (good) {
          const SegmentBlocks& s = segments(block_of(segments.data(), count, number).segment);
          good = j >= s.first_chosen && j < s.first_chosen + s.chosen;
        }
        sum += good ? 0 : 1;
      },
      bad);
  wait(exec, "gradcomp::compressors::count_bad_blocks");
  return bad;
}

}  // namespace gradcomp::compressors
