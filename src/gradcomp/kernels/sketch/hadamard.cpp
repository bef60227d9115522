#include "gradcomp/kernels/sketch/hadamard.hpp"

#include <algorithm>
#include <bit>
#include <type_traits>
#include <vector>

#include "gradcomp/core/error.hpp"
#include "gradcomp/kernels/lanes/arrays.hpp"
#include "gradcomp/kernels/lanes/note.hpp"
#include "gradcomp/kernels/lanes/source_rows.hpp"
#include "gradcomp/kernels/lanes/teams.hpp"
#include "gradcomp/kernels/random/threefry.hpp"

namespace gradcomp::kernels {
namespace {

std::vector<RotatedGroup> groups_of(const Layout& layout, index_t length) {
  require(length >= warp_lanes && length <= 8192 && std::has_single_bit(static_cast<std::uint64_t>(length)),
          "rotation of groups of {} elements; allowed: powers of two from 32 to 8192", length);
  std::vector<RotatedGroup> groups;
  index_t work = 0;
  for (const auto& segment : layout.segments) {
    for (index_t at = 0; at < segment.count; at += length) {
      const index_t count = std::min(length, segment.count - at);
      const auto padded = static_cast<index_t>(std::bit_ceil(static_cast<std::uint64_t>(std::max<index_t>(count, 32))));
      groups.push_back({segment.offset + at, work, at, segment.id, static_cast<std::int32_t>(count),
                        static_cast<std::int32_t>(padded)});
      work += padded;
    }
  }
  return groups;
}

/// The signs of the rows of a group: bit l of a word negates element l of its row.
struct RowSigns {
  Array4 key;
  index_t element;

  /// One draw serves four rows: those from `row` on, a multiple of 4.
  KOKKOS_FORCEINLINE_FUNCTION Array4 draw(index_t row) const {
    return threefry4x32_12(key, stream_counter(element + row * warp_lanes, random_stream::rotation, 0));
  }
  KOKKOS_FORCEINLINE_FUNCTION static std::uint32_t word(const Array4& draw, index_t row) {
    const auto r = row % 4;
    return r == 0 ? draw.x0 : r == 1 ? draw.x1 : r == 2 ? draw.x2 : draw.x3;
  }
};

/// The power of two that brings `most` close to 1, limited to those whose reciprocal is a normal number too.
KOKKOS_INLINE_FUNCTION float normaliser(float most) {
  const auto exponent = static_cast<std::int32_t>(Kokkos::bit_cast<std::uint32_t>(most) >> 23);
  const std::int32_t power = 254 - exponent;
  return Kokkos::bit_cast<float>(static_cast<std::uint32_t>(power > 253 ? 253 : power < 1 ? 1 : power) << 23);
}

KOKKOS_FORCEINLINE_FUNCTION float flipped(float x, std::uint32_t signs, int bit) {
  return Kokkos::bit_cast<float>(Kokkos::bit_cast<std::uint32_t>(x) ^ ((signs >> bit) << 31));
}

/// The larger one of the largest magnitude so far and that of x.
KOKKOS_FORCEINLINE_FUNCTION float larger(float most, float x) {
  const float size = Kokkos::bit_cast<float>(Kokkos::bit_cast<std::uint32_t>(x) & 0x7fffffffu);
  return size > most ? size : most;
}

/// The statistics of a group of `padded` elements, rotated in `rows` rows that begin `pitch` elements apart. Rows of
/// zeros may follow those of the group.
KOKKOS_FORCEINLINE_FUNCTION RotatedStats stats_of(const Warp& warp, const float* y, index_t rows, index_t pitch,
                                                  std::int32_t padded, float largest) {
  Lanes<float> most, sum, squares;
  warp.each([&](int l) { most[l] = sum[l] = squares[l] = 0; });
  for (index_t row = 0; row < rows; ++row) {
    warp.each([&](int l) {
      const float v = y[row * pitch + l], size = v < 0 ? -v : v;
      most[l] = size > most[l] ? size : most[l];
      sum[l] += size;
      squares[l] += v * v;
    });
  }
  return {largest, warp.max(most), warp.sum(sum), warp.sum(squares),
          1 / (static_cast<double>(normaliser(largest)) * Kokkos::sqrt(static_cast<double>(padded)))};
}

/// What both directions need.
struct RotationStep {
  Vector<RotatedGroup> groups;
  Vector<float> work;
  std::uint64_t seed;
  std::int64_t step;

  KOKKOS_FORCEINLINE_FUNCTION RowSigns signs(const RotatedGroup& group) const {
    return {stream_key(seed, group.segment_id, step, every_rank), group.element};
  }
  /// The signs of one row.
  KOKKOS_FORCEINLINE_FUNCTION std::uint32_t word(const RotatedGroup& group, int row) const {
    return RowSigns::word(signs(group).draw(row - row % 4), row);
  }
};

// ---- Hosts: one thread per group, which lies in its cache -----------------------------------------------------------

/// x = H x in place on one warp, with H not normalised. `count` is a power of two, at least 32.
[[maybe_unused]] KOKKOS_INLINE_FUNCTION void walsh_hadamard(const Warp& warp, float* x, index_t count) {
  constexpr int square = warp_lanes * warp_lanes;
  for (index_t block = 0; block < count; block += square) {  // the five low bits of the index; each lane takes a row
    const index_t rows = count - block < square ? (count - block) / warp_lanes : warp_lanes;
    float* const from = x + block;
    Lanes<float> v[warp_lanes];
    for (int j = 0; j < warp_lanes; ++j) {
      warp.each([&](int l) { v[j][l] = l < rows ? from[l * warp_lanes + j] : 0.0f; });
    }
    for (int half = 1; half < warp_lanes; half *= 2) {
      for (int j = 0; j < warp_lanes; ++j) {
        if ((j & half) != 0) continue;
        warp.each([&](int l) {
          const float low = v[j][l], high = v[j + half][l];
          v[j][l] = low + high;
          v[j + half][l] = low - high;
        });
      }
    }
    for (int j = 0; j < warp_lanes; ++j) {
      warp.each([&](int l) {
        if (l < rows) from[l * warp_lanes + j] = v[j][l];
      });
    }
  }
  for (index_t half = warp_lanes; half < count; half *= 2) {  // each lane takes its own column
    for (index_t i = 0; i < count; i += 2 * half) {
      for (index_t row = i; row < i + half; row += warp_lanes) {
        float *const low = x + row, *const high = low + half;
        Lanes<float> sum, difference;
        warp.each([&](int l) {
          sum[l] = low[l] + high[l];
          difference[l] = low[l] - high[l];
        });
        warp.each([&](int l) {
          low[l] = sum[l];
          high[l] = difference[l];
        });
      }
    }
  }
}

// ---- Devices: one team per group, which it reads once and writes once -----------------------------------------------
//
// A warp has 32 rows of the group, and a thread 32 elements in registers. Of the index of an element, the registers are
// bits 0-4 first (a thread has a row), then bits 5-9 (a column of the rows of its warp), and at last bits 10-12, below
// which as many of bits 5-9 as there is room for: the stages of a host, in its order, so that all bits are its. Between
// them the elements change threads in scratch memory. There a row takes one element more than it has, so that 32
// threads reach 32 banks, along a row and down a column. (Shuffles would take five instructions of the same unit per
// element for bits 0-4; this takes two to four, and a thread needs the signs of one row instead of 32.)

constexpr int pitch = warp_lanes + 1;

/// The rows of a group, and behind them the largest magnitude of each warp.
template <int warps>
using GroupScratch = TeamArray<float[warps * warp_lanes * pitch + warps]>;

/// x[r] = from[r * step]
KOKKOS_FORCEINLINE_FUNCTION void take(float (&x)[warp_lanes], const float* from, int step) {
  GRADCOMP_UNROLL
  for (int r = 0; r < warp_lanes; ++r) x[r] = from[r * step];
}
KOKKOS_FORCEINLINE_FUNCTION void put(const float (&x)[warp_lanes], float* to, int step) {
  GRADCOMP_UNROLL
  for (int r = 0; r < warp_lanes; ++r) to[r * step] = x[r];
}

/// The stages that join registers `first`, 2 * first, ... apart, if this is less than `end`, which is one for all
/// lanes.
template <int first>
KOKKOS_FORCEINLINE_FUNCTION void stages(float (&x)[warp_lanes], int end) {
  GRADCOMP_UNROLL
  for (int half = first; half < warp_lanes; half *= 2) {
    if (half < end) {
      GRADCOMP_UNROLL
      for (int r = 0; r < warp_lanes; ++r) {
        if ((r & half) != 0) continue;
        const float low = x[r], high = x[r + half];
        x[r] = low + high;
        x[r + half] = low - high;
      }
    }
  }
}

/// How many of the rows next to each other a thread has at the end.
template <int warps>
constexpr int kept_rows = warp_lanes / warps;

/// Of which row it then has an element in register r: this many behind row w * kept_rows of the group, for warp w.
template <int warps>
KOKKOS_FORCEINLINE_FUNCTION constexpr int last_row(int r) {
  return r / kept_rows<warps> * warp_lanes + r % kept_rows<warps>;
}

/// The largest magnitude of all warps.
template <int warps>
KOKKOS_FORCEINLINE_FUNCTION float largest_of(const float* shared) {
  float most = 0;
  GRADCOMP_UNROLL
  for (int w = 0; w < warps; ++w) most = larger(most, shared[warps * warp_lanes * pitch + w]);
  return most;
}

/// H times a group of `rows` rows. Before, x is row 32 w + l for lane l of warp w; afterwards, it is element l of the
/// rows last_row().
template <int warps>
KOKKOS_FORCEINLINE_FUNCTION void walsh_hadamard(const Team& team, const Warp& warp, int w, int rows, float* shared,
                                                float (&x)[warp_lanes]) {
  const int l = device::lane();
  float* const mine = shared + w * warp_lanes * pitch;
  stages<1>(x, warp_lanes);
  put(x, mine + l * pitch, 1);
  warp.sync();
  take(x, mine + l, pitch);
  stages<1>(x, rows);
  if constexpr (warps > 1) {
    put(x, mine + l, pitch);
    team.team_barrier();
    const float* const from = shared + w * kept_rows<warps> * pitch + l;
    GRADCOMP_UNROLL
    for (int r = 0; r < warp_lanes; ++r) x[r] = from[last_row<warps>(r) * pitch];
    stages<kept_rows<warps>>(x, rows / warps);
  }
}

/// The elements of a group that belong to warp w: at most 32 rows of them.
KOKKOS_FORCEINLINE_FUNCTION int of_warp(std::int32_t count, int w) {
  constexpr int most = warp_lanes * warp_lanes;
  const int left = count - w * most;
  return left < 0 ? 0 : left < most ? left : most;
}

// ---- The kernels ----------------------------------------------------------------------------------------------------

/// Rotation::rotate().
template <int warps>
struct Rotate {
  RotationStep on;
  Vector<RotatedStats> stats;
  Source source;
  Mark mark;

  /// Of group b, on hosts.
  KOKKOS_FUNCTION void operator()(const Warp& warp, index_t b) const {
    const RotatedGroup group = on.groups(b);
    float* const y = on.work.data() + group.work;
    const RowSigns signs = on.signs(group);
    Lanes<float> a, most;
    Lanes<std::int32_t> bad;
    warp.each([&](int l) {
      most[l] = 0;
      bad[l] = 0;
    });
    Array4 draw;
    for (index_t row = 0; row < group.padded / warp_lanes; ++row) {
      const index_t at = row * warp_lanes, left = group.count - at;
      if (left > 0) {
        accumulate_row(warp, source, group.first + at, static_cast<int>(left < warp_lanes ? left : warp_lanes), a, bad);
      } else {
        warp.each([&](int l) { a[l] = 0; });
      }
      if (row % 4 == 0) draw = signs.draw(row);
      const std::uint32_t word = signs.word(draw, row);
      warp.each([&](int l) {
        most[l] = larger(most[l], a[l]);
        y[at + l] = flipped(a[l], word, l);
      });
    }
    const float largest = warp.max(most), factor = normaliser(largest);
    for (index_t at = 0; at < group.padded; at += warp_lanes) {
      warp.each([&](int l) { y[at + l] *= factor; });
    }
    walsh_hadamard(warp, y, group.padded);
    stats(b) = stats_of(warp, y, group.padded / warp_lanes, warp_lanes, group.padded, largest);
    note_bad(warp, bad, mark);
  }

  /// Of the group of the team, by warp w.
  KOKKOS_FUNCTION void operator()(const Team& team, const Warp& warp, int w) const {
    const RotatedGroup& group = on.groups(team.league_rank());
    const GroupScratch<warps> scratch(team.team_scratch(0));
    float *const shared = scratch.data(), *const mine = shared + w * warp_lanes * pitch;
    const int l = device::lane(), count = of_warp(group.count, w);
    Lanes<float> most;
    Lanes<std::int32_t> bad;
    most[l] = 0;
    bad[l] = 0;
    accumulate_rows<16>(warp, source, group.first + w * warp_lanes * warp_lanes, count, bad,
                        [&](int, float a, int row) {
                          most[l] = larger(most[l], a);
                          mine[row * pitch + l] = a;
                        });
    for (int row = (count + warp_lanes - 1) / warp_lanes; row < warp_lanes; ++row) mine[row * pitch + l] = 0;
    note_bad(warp, bad, mark);
    const std::uint32_t word = on.word(group, w * warp_lanes + l);
    const float own = warp.max(most);
    warp.once([&] { shared[warps * warp_lanes * pitch + w] = own; });
    team.team_barrier();
    const float factor = normaliser(largest_of<warps>(shared));
    float x[warp_lanes];
    take(x, mine + l * pitch, 1);
    GRADCOMP_UNROLL
    for (int r = 0; r < warp_lanes; ++r) x[r] = flipped(x[r], word, r) * factor;
    const int rows = group.padded / warp_lanes;
    walsh_hadamard<warps>(team, warp, w, rows, shared, x);

    const int first = w * kept_rows<warps>;
    float *const y = on.work.data() + group.work + first * warp_lanes + l, *const to = shared + first * pitch + l;
    GRADCOMP_UNROLL
    for (int r = 0; r < warp_lanes; ++r) {
      const int row = last_row<warps>(r);
      if (row < rows - first) y[row * warp_lanes] = x[r];
      to[row * pitch] = x[r];
    }
    team.team_barrier();
    if (w != 0) return;
    // One warp adds up all rows, in the order of a host. No thread has a whole column in its registers.
    const RotatedStats all = stats_of(warp, shared, warps * warp_lanes, pitch, group.padded, largest_of<warps>(shared));
    warp.once([&] { stats(team.league_rank()) = all; });
  }
};

/// Rotation::rotate_back().
template <int warps>
struct RotateBack {
  RotationStep on;

  /// Of group b, on hosts.
  KOKKOS_FUNCTION void operator()(const Warp& warp, index_t b) const {
    const RotatedGroup group = on.groups(b);
    float* const y = on.work.data() + group.work;
    const RowSigns signs = on.signs(group);
    walsh_hadamard(warp, y, group.padded);
    Array4 draw;
    for (index_t row = 0; row < group.padded / warp_lanes; ++row) {
      if (row % 4 == 0) draw = signs.draw(row);
      const std::uint32_t word = signs.word(draw, row);
      warp.each([&](int l) { y[row * warp_lanes + l] = flipped(y[row * warp_lanes + l], word, l); });
    }
  }

  /// Of the group of the team, by warp w.
  KOKKOS_FUNCTION void operator()(const Team& team, const Warp& warp, int w) const {
    const RotatedGroup& group = on.groups(team.league_rank());
    const GroupScratch<warps> scratch(team.team_scratch(0));
    float *const shared = scratch.data(), *const mine = shared + w * warp_lanes * pitch;
    const int l = device::lane(), rows = group.padded / warp_lanes;
    float* const y = on.work.data() + group.work + l;
    const int begin = w * warp_lanes, first = w * kept_rows<warps>;
    float x[warp_lanes];
    GRADCOMP_UNROLL
    for (int r = 0; r < warp_lanes; ++r) x[r] = r < rows - begin ? y[(begin + r) * warp_lanes] : 0.0f;
    put(x, mine + l, pitch);
    const std::uint32_t words = on.word(group, first + last_row<warps>(l));  // lane r has the signs of register r
    warp.sync();
    take(x, mine + l * pitch, 1);
    walsh_hadamard<warps>(team, warp, w, rows, shared, x);
    GRADCOMP_UNROLL
    for (int r = 0; r < warp_lanes; ++r) {
      const std::uint32_t word = device::of_lane(words, r);
      const int row = last_row<warps>(r);
      if (row < rows - first) y[(first + row) * warp_lanes] = flipped(x[r], word, l);
    }
  }
};

/// Runs a kernel on all groups.
template <template <int> class Kernel, int warps>
void for_groups(const char* label, const Exec& exec, const Kernel<warps>& kernel) {
  const auto count = static_cast<index_t>(kernel.on.groups.size());
  if constexpr (lanes_are_threads) {
    for_teams_of_warps<warps>(label, exec, count, GroupScratch<warps>::shmem_size(), kernel);
  } else {
    for_warps(label, exec, count, kernel);
  }
}

/// f(std::integral_constant<int, w>()), where w warps rotate a group of `length` elements.
template <class F>
void with_warps(index_t length, const F& f) {
  if constexpr (lanes_are_threads) {
    if (length > 4096) return f(std::integral_constant<int, 8>());
    if (length > 2048) return f(std::integral_constant<int, 4>());
    if (length > 1024) return f(std::integral_constant<int, 2>());
  }
  f(std::integral_constant<int, 1>());
}

/// Runs f(at, i, active) for the rows of a group that have elements: `at` and `i` are the index of the first element of
/// the row in the group and in the layout.
template <class F>
KOKKOS_FORCEINLINE_FUNCTION void for_rows(const RotatedGroup& group, const F& f) {
  for (std::int32_t at = 0; at < group.count; at += warp_lanes) {
    f(index_t{at}, group.first + at, group.count - at < warp_lanes ? group.count - at : warp_lanes);
  }
}

}  // namespace

index_t padded_count(const Layout& layout, index_t length) {
  const auto groups = groups_of(layout, length);
  return groups.empty() ? 0 : groups.back().work + groups.back().padded;
}

Rotation::Rotation(const Layout& layout, index_t length)
    : m_length(length),
      m_groups(upload("gradcomp::kernels::rotated_groups", groups_of(layout, length))),
      m_stats("gradcomp::kernels::rotated_stats", m_groups.size()),
      m_work("gradcomp::kernels::rotated", static_cast<std::size_t>(padded_count(layout, length))) {}

index_t Rotation::bytes() const {
  return static_cast<index_t>(m_groups.size() * (sizeof(RotatedGroup) + sizeof(RotatedStats)) + 4 * m_work.size());
}

void Rotation::rotate(const Exec& exec, const Source& source, std::uint64_t seed, std::int64_t step,
                      const Mark& mark) const {
  with_warps(m_length, [&](auto warps) {
    for_groups("gradcomp::kernels::rotate", exec, Rotate<warps>{{m_groups, m_work, seed, step}, m_stats, source, mark});
  });
}

void Rotation::rotate_back(const Exec& exec, std::uint64_t seed, std::int64_t step) const {
  with_warps(m_length, [&](auto warps) {
    for_groups("gradcomp::kernels::rotate_back", exec, RotateBack<warps>{{m_groups, m_work, seed, step}});
  });
}

void Rotation::report(const Exec& exec, const Source& source, const float* scales) const {
  if (!source.has_memory()) return;
  const auto groups = m_groups;
  const auto work = m_work;
  for_warps(
      "gradcomp::kernels::report_rotated", exec, static_cast<index_t>(groups.size()),
      KOKKOS_LAMBDA(const Warp& warp, index_t b) {
        const RotatedGroup group = groups(b);
        const float scale = scales[b];
        for_rows(group, [&](index_t at, index_t i, int active) {
          Lanes<float> a, value;
          load_row(warp, source.accumulated() + i, active, a);
          load_row(warp, work.data() + group.work + at, active, value);
          warp.each([&](int l) { value[l] = decoded(value[l], scale); });
          sent_row(warp, source, i, active, a, value);
        });
      });
}

void Rotation::add(const Exec& exec, const float* scales, float weight, const Admission& admission,
                   const Span<float>& out) const {
  const auto groups = m_groups;
  const auto work = m_work;
  for_warps(
      "gradcomp::kernels::add_rotated", exec, static_cast<index_t>(groups.size()),
      KOKKOS_LAMBDA(const Warp& warp, index_t b) {
        const RotatedGroup group = groups(b);
        if (!may_add(warp, admission, b == 0, out.data() + group.first, group.count)) return;
        const float scale = scales[b];
        for_rows(group, [&](index_t at, index_t i, int active) {
          Lanes<float> sum, value;
          load_row(warp, out.data() + i, active, sum);
          load_row(warp, work.data() + group.work + at, active, value);
          warp.each([&](int l) { sum[l] = admission.before(sum[l]) + weight * decoded(value[l], scale); });
          store_row(warp, out.data() + i, active, sum);
        });
      });
}

}  // namespace gradcomp::kernels
