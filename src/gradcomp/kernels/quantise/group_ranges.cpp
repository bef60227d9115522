#include "gradcomp/kernels/quantise/group_ranges.hpp"

#include <algorithm>

#include "gradcomp/kernels/lanes/arrays.hpp"
#include "gradcomp/kernels/quantise/dither_lanes.hpp"

namespace gradcomp::kernels {
namespace {

constexpr float largest_float = 0x1.fffffep+127f;

/// Sums of `size` elements at `a` in double.
KOKKOS_FORCEINLINE_FUNCTION void sum_exactly(const Warp& warp, const float* a, index_t size, Range& range) {
  Lanes<double> sum, squares;
  warp.each([&](int l) {
    sum[l] = squares[l] = 0;
    for (index_t i = l; i < size; i += warp_lanes) {
      sum[l] += static_cast<double>(a[i]);
      squares[l] += static_cast<double>(a[i]) * static_cast<double>(a[i]);
    }
  });
  range.sum = warp.sum(sum);
  range.squares = warp.sum(squares);
}

/// The first pass over elements [i, i + size), and their statistics.
KOKKOS_FORCEINLINE_FUNCTION Range chunk_range(const Warp& warp, const Source& source, index_t i, index_t size,
                                              Lanes<std::int32_t>& bad) {
  Lanes<float> sum, squares, high, negative;  // negative: the maximum of -a
  warp.each([&](int l) {
    sum[l] = squares[l] = 0;
    high[l] = negative[l] = -largest_float;
  });
  const auto add = [&](int l, float a, bool inside) {
    sum[l] += a;
    squares[l] += a * a;
    high[l] = inside && a > high[l] ? a : high[l];
    negative[l] = inside && -a > negative[l] ? -a : negative[l];
  };
  const index_t last = size % warp_lanes, rows = size - last;  // only lanes of the last row may be outside
  accumulate_rows(warp, source, i, rows, bad, [&](int l, float a, int) { add(l, a, true); });
  accumulate_rows(warp, source, i + rows, last, bad, [&](int l, float a, int) { add(l, a, l < last); });
  Range range;
  range.count = size;
  range.high = warp.max(high);
  range.low = -warp.max(negative);
  const float largest = range.largest();
  range.sum = static_cast<double>(warp.sum(sum));
  range.squares = static_cast<double>(warp.sum(squares));
  if (largest != 0 && (largest < float_sum_low || largest > float_sum_high)) {
    sum_exactly(warp, source.accumulated() + i, size, range);
  }
  return range;
}

void join_chunks(const Exec& exec, const Vector<index_t>& begin, const Vector<Range>& partial,
                 const Vector<Range>& ranges) {
  for_warps(
      "gradcomp::kernels::join_chunks", exec, static_cast<index_t>(ranges.size()),
      KOKKOS_LAMBDA(const Warp& warp, index_t b) {
        const index_t end = begin(b + 1);
        Lanes<double> sum, squares;
        Lanes<float> high, negative;
        Lanes<index_t> count;
        warp.each([&](int l) {
          sum[l] = squares[l] = 0;
          high[l] = negative[l] = -largest_float;
          count[l] = 0;
          const auto load = [&](index_t c) { return partial(c); };
          each_of_lane(l, begin(b), end, load, [&](const Range& part) {
            sum[l] += part.sum;
            squares[l] += part.squares;
            high[l] = part.high > high[l] ? part.high : high[l];
            negative[l] = -part.low > negative[l] ? -part.low : negative[l];
            count[l] += part.count;
          });
        });
        Range range;
        range.sum = warp.sum(sum);
        range.squares = warp.sum(squares);
        range.high = warp.max(high);
        range.low = -warp.max(negative);
        range.count = warp.sum(count);
        warp.once([&] { ranges(b) = range; });
      });
}

}  // namespace

index_t group_count(const Layout& layout, index_t length) {
  index_t groups = 0;
  for (const auto& segment : layout.segments) {
    groups += group_count(segment.count, length);
  }
  return groups;
}

GroupRanges::GroupRanges(const Layout& layout, index_t length) : m_step(length > 0 ? length : tile_size) {
  std::vector<Chunk> chunks;
  std::vector<index_t> begin;
  for (const auto& segment : layout.segments) {
    if (segment.count > 0) begin.push_back(static_cast<index_t>(chunks.size()));
    for (index_t done = 0; done < segment.count; done += m_step)
      chunks.push_back({segment.offset + done, std::min(m_step, segment.count - done)});
  }
  begin.push_back(static_cast<index_t>(chunks.size()));
  m_chunks = m_chunk_room = upload("gradcomp::kernels::range_chunks", chunks);
  m_ranges = m_range_room =
      Vector<Range>("gradcomp::kernels::ranges", static_cast<std::size_t>(group_count(layout, length)));
  if (length > 0) return;
  m_begin = upload("gradcomp::kernels::range_begin", begin);
  m_partial = Vector<Range>("gradcomp::kernels::range_partial", chunks.size());
}

void GroupRanges::resize(const Exec& exec, index_t count) {
  m_chunks = shortened("gradcomp::kernels::resize_ranges", exec, m_chunk_room, m_begin, m_step, count);
  const bool whole = m_begin.size() > 0;
  m_ranges = first_of(m_range_room, !whole ? static_cast<index_t>(m_chunks.size()) : count > 0 ? 1 : 0);
}

void GroupRanges::run(const Exec& exec, const Source& source, const Mark& mark) {
  const auto chunks = m_chunks;
  const auto target = m_begin.size() > 0 ? m_partial : m_ranges;
  for_warps(
      "gradcomp::kernels::group_ranges", exec, static_cast<index_t>(chunks.size()),
      KOKKOS_LAMBDA(const Warp& warp, index_t c) {
        Lanes<std::int32_t> bad;
        warp.each([&](int l) { bad[l] = 0; });
        const Range range = chunk_range(warp, source, chunks(c).first, chunks(c).count, bad);
        const std::int32_t total = warp.sum(bad);
        warp.once([&] {
          target(c) = range;
          if (total > 0) mark.set();
        });
      });
  if (m_begin.size() > 0) join_chunks(exec, m_begin, m_partial, m_ranges);
}

index_t GroupRanges::bytes() const {
  return static_cast<index_t>(m_chunk_room.size() * sizeof(Chunk) + m_begin.size() * sizeof(index_t) +
                              (m_partial.size() + m_range_room.size()) * sizeof(Range));
}

}  // namespace gradcomp::kernels
