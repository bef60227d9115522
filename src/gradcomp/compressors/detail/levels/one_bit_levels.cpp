#include "gradcomp/compressors/detail/levels/one_bit_levels.hpp"

namespace gradcomp::compressors {
namespace {

using kernels::Lanes;
using kernels::SignPiece;
using kernels::SignPieces;
using kernels::Warp;

/// The sums of a piece, as its elements come by.
struct Sides {
  Lanes<double> below, above;
  Lanes<std::int32_t> under;

  KOKKOS_FORCEINLINE_FUNCTION explicit Sides(const Warp& warp) {
    warp.each([&](int l) {
      below[l] = above[l] = 0;
      under[l] = 0;
    });
  }
  KOKKOS_FORCEINLINE_FUNCTION void add(int l, float a, float threshold) {
    const bool is_below = a < threshold;
    below[l] += static_cast<double>(is_below ? a : 0.0f);
    above[l] += static_cast<double>(is_below ? 0.0f : a);
    under[l] += is_below ? 1 : 0;
  }
  KOKKOS_FORCEINLINE_FUNCTION SideSums sums(const Warp& warp, index_t count) const {
    return {warp.sum(below), warp.sum(above), warp.sum(under), count};
  }
};

/// The sums of a piece about threshold 0, in the first touch of the source.
KOKKOS_FORCEINLINE_FUNCTION SideSums first_sums(const Warp& warp, const Source& source, const SignPiece& here,
                                                Lanes<std::int32_t>& bad) {
  Sides sides(warp);
  kernels::accumulate_rows(warp, source, here.first, here.count, bad,
                           [&](int l, float a, int) { sides.add(l, a, 0.0f); });
  return sides.sums(warp, here.count);
}

/// The sums of a piece about another threshold. The source has been touched before.
KOKKOS_FORCEINLINE_FUNCTION SideSums sums_about(const Warp& warp, const Source& source, const SignPiece& here,
                                                float threshold) {
  Sides sides(warp);
  const float* const a = source.accumulated() + here.first;
  kernels::each_element(warp, here.count, [&](int l, index_t e) { sides.add(l, a[e], threshold); });
  return sides.sums(warp, here.count);
}

/// The smallest float that is not below x. x is finite and within the range of a float.
KOKKOS_INLINE_FUNCTION float round_up(double x) {
  const auto nearest = static_cast<float>(x);
  if (static_cast<double>(nearest) >= x) return nearest;
  const auto bits = Kokkos::bit_cast<std::uint32_t>(nearest);
  if ((bits & 0x7fffffffu) == 0) return 0x1p-149f;
  return Kokkos::bit_cast<float>(nearest < 0 ? bits - 1 : bits + 1);
}

/// The mean of a column, as its threshold.
KOKKOS_INLINE_FUNCTION float mean_of(const SideSums& sums) {
  return round_up((sums.below + sums.above) / static_cast<double>(sums.count));
}

struct Levels {
  float lower, upper;
};

KOKKOS_INLINE_FUNCTION Levels class_levels(const SideSums& sums, bool about_mean) {
  const index_t over = sums.count - sums.under;
  Levels levels{sums.under > 0 ? static_cast<float>(sums.below / static_cast<double>(sums.under)) : 0.0f,
                over > 0 ? static_cast<float>(sums.above / static_cast<double>(over)) : 0.0f};
  if (about_mean && sums.under == 0) levels.lower = levels.upper;
  if (about_mean && over == 0) levels.upper = levels.lower;
  return levels;
}

/// Whether a column has several pieces.
KOKKOS_INLINE_FUNCTION bool is_long(const Vector<index_t>& begin, index_t column) {
  return begin(column + 1) - begin(column) > 1;
}

/// Forms a, and notes whether all its elements are finite. A column of one piece is written; of all others, sums[p] =
/// the sums of piece p.
void first_pass(const Exec& exec, const Source& source, const SignPieces& pieces, bool about_mean, const Mark& mark,
                const Vector<SideSums>& sums, float* values, std::uint32_t* words) {
  const auto piece = pieces.piece;
  const auto begin = pieces.begin;
  kernels::for_warps(
      "gradcomp::compressors::one_bit_first", exec, pieces.count(), KOKKOS_LAMBDA(const Warp& warp, index_t p) {
        const SignPiece here = piece(p);
        Lanes<std::int32_t> bad;
        warp.each([&](int l) { bad[l] = 0; });
        SideSums found = first_sums(warp, source, here, bad);
        kernels::note_bad(warp, bad, mark);
        if (is_long(begin, here.run)) {
          warp.once([&] { sums(p) = found; });
          return;
        }
        warp.sync();
        const float threshold = about_mean ? mean_of(found) : 0.0f;
        if (about_mean) found = sums_about(warp, source, here, threshold);
        const Levels levels = class_levels(found, about_mean);
        warp.once([&] {
          values[2 * here.run] = levels.lower;
          values[2 * here.run + 1] = levels.upper;
        });
        kernels::write_piece(warp, here, kernels::SentRows{source}, threshold, levels.lower, levels.upper, bad, words);
      });
}

/// The sums of a long column, whose pieces are added in order.
KOKKOS_INLINE_FUNCTION SideSums column_sums(const Vector<SideSums>& sums, index_t begin, index_t end) {
  SideSums all{0, 0, 0, 0};
  for (index_t p = begin; p < end; ++p) {
    all.below += sums(p).below;
    all.above += sums(p).above;
    all.under += sums(p).under;
    all.count += sums(p).count;
  }
  return all;
}

/// thresholds[c] = the mean of long column c, from the sums of first_pass(), which become those about these thresholds.
void sums_about_means(const Exec& exec, const Source& source, const SignPieces& pieces, const Vector<SideSums>& sums,
                      const Vector<float>& thresholds) {
  const auto piece = pieces.piece;
  const auto begin = pieces.begin;
  Kokkos::parallel_for(
      "gradcomp::compressors::one_bit_means", IndexRange(exec, 0, static_cast<index_t>(thresholds.size())),
      KOKKOS_LAMBDA(const index_t c) {
        if (is_long(begin, c)) thresholds(c) = mean_of(column_sums(sums, begin(c), begin(c + 1)));
      });
  kernels::for_warps(
      "gradcomp::compressors::one_bit_sums_about", exec, pieces.count(), KOKKOS_LAMBDA(const Warp& warp, index_t p) {
        const SignPiece here = piece(p);
        if (!is_long(begin, here.run)) return;
        const SideSums found = sums_about(warp, source, here, thresholds(here.run));
        warp.once([&] { sums(p) = found; });
      });
}

/// Writes the levels and the signs of long columns. `thresholds` is empty if they are 0.
void write_long(const Exec& exec, const Source& source, const SignPieces& pieces, const Vector<SideSums>& sums,
                const Vector<float>& thresholds, index_t columns, float* values, std::uint32_t* words) {
  const auto piece = pieces.piece;
  const auto begin = pieces.begin;
  const bool about_mean = thresholds.size() > 0;
  Kokkos::parallel_for(
      "gradcomp::compressors::one_bit_levels", IndexRange(exec, 0, columns), KOKKOS_LAMBDA(const index_t c) {
        if (!is_long(begin, c)) return;
        const Levels levels = class_levels(column_sums(sums, begin(c), begin(c + 1)), about_mean);
        values[2 * c] = levels.lower;
        values[2 * c + 1] = levels.upper;
      });
  kernels::for_warps(
      "gradcomp::compressors::one_bit_write", exec, pieces.count(), KOKKOS_LAMBDA(const Warp& warp, index_t p) {
        const SignPiece here = piece(p);
        if (!is_long(begin, here.run)) return;
        Lanes<std::int32_t> bad;  // was noted by the first pass
        kernels::write_piece(warp, here, kernels::SentRows{source}, about_mean ? thresholds(here.run) : 0.0f,
                             values[2 * here.run], values[2 * here.run + 1], bad, words);
      });
}

}  // namespace

ColumnLevels::ColumnLevels(const std::vector<kernels::SignRun>& columns, bool about_mean)
    : m_about_mean(about_mean),
      m_pieces(columns),
      m_sums("gradcomp::compressors::one_bit::sums", has_long() ? m_pieces.piece.size() : 0),
      m_thresholds("gradcomp::compressors::one_bit::thresholds", has_long() && about_mean ? columns.size() : 0) {}

index_t ColumnLevels::bytes() const {
  return m_pieces.bytes() + static_cast<index_t>(m_sums.size() * sizeof(SideSums) + 4 * m_thresholds.size());
}

void ColumnLevels::encode(const Exec& exec, const Source& source, const Mark& mark, float* values,
                          std::uint32_t* words) const {
  first_pass(exec, source, m_pieces, m_about_mean, mark, m_sums, values, words);
  if (!has_long()) return;
  if (m_about_mean) sums_about_means(exec, source, m_pieces, m_sums, m_thresholds);
  write_long(exec, source, m_pieces, m_sums, m_thresholds, columns(), values, words);
}

}  // namespace gradcomp::compressors
