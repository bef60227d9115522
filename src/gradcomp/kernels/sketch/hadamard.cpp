#include "gradcomp/kernels/sketch/hadamard.hpp"

#include <algorithm>
#include <bit>
#include <vector>

#include "gradcomp/core/error.hpp"
#include "gradcomp/kernels/lanes/arrays.hpp"
#include "gradcomp/kernels/lanes/note.hpp"
#include "gradcomp/kernels/lanes/source_rows.hpp"
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

/// The signs of a row of a group: bit l negates element l of the row. One draw serves four rows, in order.
struct RowSigns {
  Array4 key;
  index_t element;

  KOKKOS_FORCEINLINE_FUNCTION std::uint32_t operator()(index_t row, Array4& draw) const {
    if (row % 4 == 0)
      draw = threefry4x32_12(key, stream_counter(element + row * warp_lanes, random_stream::rotation, 0));
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
    : m_groups(upload("gradcomp::kernels::rotated_groups", groups_of(layout, length))),
      m_stats("gradcomp::kernels::rotated_stats", m_groups.size()),
      m_work("gradcomp::kernels::rotated", static_cast<std::size_t>(padded_count(layout, length))) {}

index_t Rotation::bytes() const {
  return static_cast<index_t>(m_groups.size() * (sizeof(RotatedGroup) + sizeof(RotatedStats)) + 4 * m_work.size());
}

void Rotation::rotate(const Exec& exec, const Source& source, std::uint64_t seed, std::int64_t step,
                      const Mark& mark) const {
  const auto groups = m_groups;
  const auto stats = m_stats;
  const auto work = m_work;
  for_warps(
      "gradcomp::kernels::rotate", exec, static_cast<index_t>(groups.size()),
      KOKKOS_LAMBDA(const Warp& warp, index_t b) {
        const RotatedGroup group = groups(b);
        float* const y = work.data() + group.work;
        const RowSigns signs{stream_key(seed, group.segment_id, step, every_rank), group.element};
        Lanes<float> a, most, sum, squares;
        Lanes<std::int32_t> bad;
        warp.each([&](int l) {
          most[l] = sum[l] = squares[l] = 0;
          bad[l] = 0;
        });
        Array4 draw;
        for (index_t row = 0; row < group.padded / warp_lanes; ++row) {
          const index_t at = row * warp_lanes, left = group.count - at;
          if (left > 0) {
            accumulate_row(warp, source, group.first + at, static_cast<int>(left < warp_lanes ? left : warp_lanes), a,
                           bad);
          } else {
            warp.each([&](int l) { a[l] = 0; });
          }
          const std::uint32_t word = signs(row, draw);
          warp.each([&](int l) {
            const float size = Kokkos::bit_cast<float>(Kokkos::bit_cast<std::uint32_t>(a[l]) & 0x7fffffffu);
            most[l] = size > most[l] ? size : most[l];
            y[at + l] = flipped(a[l], word, l);
          });
        }
        const float largest = warp.max(most), factor = normaliser(largest);
        for (index_t at = 0; at < group.padded; at += warp_lanes) {
          warp.each([&](int l) { y[at + l] *= factor; });
        }
        walsh_hadamard(warp, y, group.padded);
        warp.each([&](int l) { most[l] = 0; });
        for (index_t at = 0; at < group.padded; at += warp_lanes) {
          warp.each([&](int l) {
            const float v = y[at + l], size = v < 0 ? -v : v;
            most[l] = size > most[l] ? size : most[l];
            sum[l] += size;
            squares[l] += v * v;
          });
        }
        const RotatedStats all{largest, warp.max(most), warp.sum(sum), warp.sum(squares),
                               1 / (static_cast<double>(factor) * Kokkos::sqrt(static_cast<double>(group.padded)))};
        note_bad(warp, bad, mark);
        warp.once([&] { stats(b) = all; });
      });
}

void Rotation::rotate_back(const Exec& exec, std::uint64_t seed, std::int64_t step) const {
  const auto groups = m_groups;
  const auto work = m_work;
  for_warps(
      "gradcomp::kernels::rotate_back", exec, static_cast<index_t>(groups.size()),
      KOKKOS_LAMBDA(const Warp& warp, index_t b) {
        const RotatedGroup group = groups(b);
        float* const y = work.data() + group.work;
        const RowSigns signs{stream_key(seed, group.segment_id, step, every_rank), group.element};
        walsh_hadamard(warp, y, group.padded);
        Array4 draw;
        for (index_t row = 0; row < group.padded / warp_lanes; ++row) {
          const std::uint32_t word = signs(row, draw);
          warp.each([&](int l) { y[row * warp_lanes + l] = flipped(y[row * warp_lanes + l], word, l); });
        }
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
