#include "gradcomp/kernels/sketch/count_sketch.hpp"

#include <vector>

#include "gradcomp/core/error.hpp"
#include "gradcomp/core/read_back.hpp"
#include "gradcomp/kernels/lanes/arrays.hpp"
#include "gradcomp/kernels/lanes/lanes.hpp"
#include "gradcomp/kernels/random/random_subset.hpp"

namespace gradcomp::kernels {
namespace {

static_assert(sketch_block == warp_lanes);

KOKKOS_FORCEINLINE_FUNCTION float with_sign(float x, std::uint32_t signs, int bit) {
  return Kokkos::bit_cast<float>(Kokkos::bit_cast<std::uint32_t>(x) ^ ((signs >> bit) << 31));
}

/// The arrays from which estimates are read; a small value type that kernels capture.
struct EstimateJob {
  const SketchPlace* places;
  const float* table;
  float* estimates;
  index_t count, blocks, columns;

  /// value[l] = the estimate of this row for element l of block b.
  KOKKOS_FORCEINLINE_FUNCTION void read(const Warp& warp, int row, index_t b, Lanes<float>& value) const {
    const SketchPlace at = places[row * blocks + b];
    const auto turn = static_cast<int>(at.place % sketch_block);
    const float* const ring = table + row * columns + (at.place - static_cast<std::uint32_t>(turn));
    const std::uint32_t signs = turn == 0 ? at.signs : at.signs >> turn | at.signs << (sketch_block - turn);
    // two contiguous loads under masks are faster than a gather
    warp.each([&](int l) {
      value[l] = with_sign(l < sketch_block - turn ? ring[l + turn] : ring[l + turn - sketch_block], signs, l);
    });
  }
};

/// A bubble sort that ends when the middle value is in place.
template <int rows>
KOKKOS_FORCEINLINE_FUNCTION void sort_to_median(const Warp& warp, Lanes<float> (&value)[rows]) {
  for (int last = rows - 1; last >= rows / 2; --last) {
    for (int j = 0; j < last; ++j) {
      warp.each([&](int l) {
        const float x = value[j][l], y = value[j + 1][l];
        value[j][l] = x < y ? x : y;
        value[j + 1][l] = x < y ? y : x;
      });
    }
  }
}

template <int rows>
void estimate_rows(const Exec& exec, const EstimateJob& job) {
  constexpr index_t blocks_per_warp = 128;
  for_warps(
      "gradcomp::kernels::sketch_estimate", exec, (job.blocks + blocks_per_warp - 1) / blocks_per_warp,
      KOKKOS_LAMBDA(const Warp& warp, index_t w) {
        const index_t end = (w + 1) * blocks_per_warp < job.blocks ? (w + 1) * blocks_per_warp : job.blocks;
        for (index_t b = w * blocks_per_warp; b < end; ++b) {
          Lanes<float> value[rows];
          for (int row = 0; row < rows; ++row) job.read(warp, row, b, value[row]);
          sort_to_median<rows>(warp, value);
          float* const out = job.estimates + b * sketch_block;
          const index_t active = job.count - b * sketch_block;
          warp.each([&](int l) {
            if (l < active) out[l] = value[rows / 2][l];
          });
        }
      });
}

}  // namespace

CountSketch::CountSketch(index_t count, int rows, index_t columns)
    : m_count(count),
      m_rows(rows),
      m_columns(columns),
      m_blocks((count + sketch_block - 1) / sketch_block),
      m_places(zeroed<SketchPlace>("gradcomp::kernels::sketch_places", m_rows * m_blocks)),
      m_visits(zeroed<SketchVisit>("gradcomp::kernels::sketch_visits", m_rows * m_blocks)),
      m_begin(zeroed<index_t>("gradcomp::kernels::sketch_begin", m_rows * (m_columns / sketch_block) + 1)) {
  require(rows >= 1 && rows <= 9 && rows % 2 == 1, "count sketch of {} rows; allowed: 1, 3, 5, 7, 9", rows);
  require(columns % sketch_block == 0 && (columns > 0 || count == 0),
          "count sketch of {} columns; allowed: multiples of {}", columns, sketch_block);
}

index_t CountSketch::bytes() const {
  return static_cast<index_t>(m_places.size() * sizeof(SketchPlace) + m_visits.size() * sizeof(SketchVisit) +
                              m_begin.size() * sizeof(index_t));
}

void CountSketch::hash(const Exec& exec, std::uint64_t seed, index_t id) {
  if (m_hashed && seed == m_seed && id == m_id) return;
  m_hashed = true;
  m_seed = seed;
  m_id = id;
  const index_t rings = m_columns / sketch_block;
  std::vector<SketchPlace> places(m_places.size());
  std::vector<SketchVisit> visits(m_visits.size());
  std::vector<index_t> begin(m_begin.size()), next;
  const Array4 key = stream_key(seed, id, 0, every_rank);
  for (std::size_t i = 0; i < places.size(); ++i) {
    const auto row = static_cast<index_t>(i) / m_blocks, b = static_cast<index_t>(i) % m_blocks;
    const Array4 bits = threefry4x32_12(key, stream_counter(b, random_stream::sketch, static_cast<std::uint32_t>(row)));
    const index_t ring = random_below(bits.x0, bits.x1, rings);
    places[i] = {static_cast<std::uint32_t>(ring * sketch_block) + bits.x2 % sketch_block, bits.x3};
    ++begin[static_cast<std::size_t>(row * rings + ring + 1)];
  }
  for (std::size_t r = 1; r < begin.size(); ++r) begin[r] += begin[r - 1];
  next = begin;
  for (std::size_t i = 0; i < places.size(); ++i) {  // blocks ascend, so that every sum has a fixed order
    const auto row = static_cast<index_t>(i) / m_blocks, b = static_cast<index_t>(i) % m_blocks;
    const auto ring = static_cast<std::size_t>(row * rings + places[i].place / sketch_block);
    visits[static_cast<std::size_t>(next[ring]++)] = {
        static_cast<std::uint32_t>(b) << 5 | places[i].place % sketch_block, places[i].signs};
  }
  Kokkos::deep_copy(exec, m_places, HostSpan<SketchPlace>(places.data(), places.size()));
  Kokkos::deep_copy(exec, m_visits, HostSpan<SketchVisit>(visits.data(), visits.size()));
  Kokkos::deep_copy(exec, m_begin, HostSpan<index_t>(begin.data(), begin.size()));
  wait(exec, "gradcomp::kernels::CountSketch::hash");
}

void CountSketch::sketch(const Exec& exec, const float* x, const Span<float>& table) const {
  const auto visits = m_visits;
  const auto begin = m_begin;
  const index_t count = m_count;
  for_warps(
      "gradcomp::kernels::sketch", exec, m_rows * (m_columns / sketch_block),
      KOKKOS_LAMBDA(const Warp& warp, index_t ring) {
        Lanes<float> sum;
        warp.each([&](int l) { sum[l] = 0; });
        for (index_t v = begin(ring); v < begin(ring + 1); ++v) {
          const SketchVisit visit = visits(v);
          const auto turn = static_cast<int>(visit.block % sketch_block);
          const std::uint32_t signs = visit.signs;
          const index_t first = static_cast<index_t>(visit.block / sketch_block) * sketch_block;
          const float* const from = x + first;
          if (count - first >= sketch_block) {
            warp.each([&](int l) {
              sum[l] += with_sign(l >= turn ? from[l - turn] : from[l - turn + sketch_block], signs, l);
            });
          } else {
            const auto active = static_cast<int>(count - first);
            warp.each([&](int l) {
              const int e = (l - turn) & (sketch_block - 1);
              if (e < active) sum[l] += with_sign(from[e], signs, l);
            });
          }
        }
        warp.each([&](int l) { table(ring * sketch_block + l) = sum[l]; });
      });
}

void CountSketch::estimate(const Exec& exec, const Span<const float>& table, const Span<float>& estimates) const {
  const EstimateJob job{m_places.data(), table.data(), estimates.data(), m_count, m_blocks, m_columns};
  switch (m_rows) {
    case 1:
      return estimate_rows<1>(exec, job);
    case 3:
      return estimate_rows<3>(exec, job);
    case 5:
      return estimate_rows<5>(exec, job);
    case 7:
      return estimate_rows<7>(exec, job);
    default:
      return estimate_rows<9>(exec, job);
  }
}

}  // namespace gradcomp::kernels
