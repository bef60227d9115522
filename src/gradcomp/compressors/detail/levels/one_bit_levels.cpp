#include "gradcomp/compressors/detail/levels/one_bit_levels.hpp"

namespace gradcomp::compressors {
namespace {

using kernels::Lanes;
using kernels::Warp;

/// Sums of every piece about threshold 0, in the first touch of the source. Notes elements that are not finite.
void first_sums(const Exec& exec, const Source& source, const kernels::SignPieces& pieces, const Mark& mark,
                const Vector<SideSums>& sums) {
  const auto piece = pieces.piece;
  kernels::for_warps(
      "gradcomp::compressors::one_bit_sums", exec, pieces.count(), KOKKOS_LAMBDA(const Warp& warp, index_t p) {
        const kernels::SignPiece here = piece(p);
        Lanes<double> below, above;
        Lanes<std::int32_t> under, bad;
        warp.each([&](int l) {
          below[l] = above[l] = 0;
          under[l] = bad[l] = 0;
        });
        kernels::accumulate_rows(warp, source, here.first, here.count, bad, [&](int l, float a, int) {
          below[l] += static_cast<double>(a < 0 ? a : 0.0f);
          above[l] += static_cast<double>(a < 0 ? 0.0f : a);
          under[l] += a < 0 ? 1 : 0;
        });
        const SideSums result{warp.sum(below), warp.sum(above), warp.sum(under)};
        kernels::note_bad(warp, bad, mark);
        warp.once([&] { sums(p) = result; });
      });
}

/// The smallest float that is not below x. x is finite and within the range of a float.
KOKKOS_INLINE_FUNCTION float round_up(double x) {
  const auto nearest = static_cast<float>(x);
  if (static_cast<double>(nearest) >= x) return nearest;
  const auto bits = Kokkos::bit_cast<std::uint32_t>(nearest);
  if ((bits & 0x7fffffffu) == 0) return 0x1p-149f;
  return Kokkos::bit_cast<float>(nearest < 0 ? bits - 1 : bits + 1);
}

/// thresholds[c] = mean of column c, from the sums of first_sums().
void column_means(const Exec& exec, const kernels::SignPieces& pieces, const Vector<SideSums>& sums,
                  const Vector<float>& thresholds) {
  const auto piece = pieces.piece;
  const auto begin = pieces.begin;
  Kokkos::parallel_for(
      "gradcomp::compressors::one_bit_means", IndexRange(exec, 0, static_cast<index_t>(thresholds.size())),
      KOKKOS_LAMBDA(const index_t c) {
        double sum = 0;
        index_t count = 0;
        for (index_t p = begin(c); p < begin(c + 1); ++p) {
          sum += sums(p).below + sums(p).above;
          count += piece(p).count;
        }
        thresholds(c) = round_up(sum / static_cast<double>(count));
      });
}

/// Sums of every piece about its column's threshold. The source has been touched before.
void sums_about(const Exec& exec, const Source& source, const kernels::SignPieces& pieces,
                const Vector<float>& thresholds, const Vector<SideSums>& sums) {
  const auto piece = pieces.piece;
  kernels::for_warps(
      "gradcomp::compressors::one_bit_sums_about", exec, pieces.count(), KOKKOS_LAMBDA(const Warp& warp, index_t p) {
        const kernels::SignPiece here = piece(p);
        const float threshold = thresholds(here.run);
        Lanes<double> below, above;
        Lanes<std::int32_t> under;
        warp.each([&](int l) {
          below[l] = above[l] = 0;
          under[l] = 0;
        });
        const float* const a = source.accumulated() + here.first;
        kernels::each_element(warp, here.count, [&](int l, index_t e) {
          const bool is_below = a[e] < threshold;
          below[l] += static_cast<double>(is_below ? a[e] : 0.0f);
          above[l] += static_cast<double>(is_below ? 0.0f : a[e]);
          under[l] += is_below ? 1 : 0;
        });
        const SideSums result{warp.sum(below), warp.sum(above), warp.sum(under)};
        warp.once([&] { sums(p) = result; });
      });
}

/// values[2 c], values[2 c + 1] = lower and upper level of column c, from its pieces in order.
void column_levels(const Exec& exec, const kernels::SignPieces& pieces, const Vector<SideSums>& sums, bool about_mean,
                   index_t columns, float* values) {
  const auto piece = pieces.piece;
  const auto begin = pieces.begin;
  Kokkos::parallel_for(
      "gradcomp::compressors::column_levels", IndexRange(exec, 0, columns), KOKKOS_LAMBDA(const index_t c) {
        double below = 0, above = 0;
        index_t under = 0, count = 0;
        for (index_t p = begin(c); p < begin(c + 1); ++p) {
          below += sums(p).below;
          above += sums(p).above;
          under += sums(p).under;
          count += piece(p).count;
        }
        float lower = under > 0 ? static_cast<float>(below / static_cast<double>(under)) : 0.0f;
        float upper = count > under ? static_cast<float>(above / static_cast<double>(count - under)) : 0.0f;
        if (about_mean && under == 0) lower = upper;
        if (about_mean && under == count) upper = lower;
        values[2 * c] = lower;
        values[2 * c + 1] = upper;
      });
}

}  // namespace

ColumnLevels::ColumnLevels(const std::vector<kernels::SignRun>& columns, bool about_mean)
    : m_about_mean(about_mean),
      m_pieces(columns),
      m_sums("gradcomp::compressors::one_bit::sums", m_pieces.piece.size()),
      m_thresholds("gradcomp::compressors::one_bit::thresholds", about_mean ? columns.size() : 0) {}

index_t ColumnLevels::bytes() const {
  return m_pieces.bytes() + static_cast<index_t>(m_sums.size() * sizeof(SideSums) + 4 * m_thresholds.size());
}

void ColumnLevels::accumulate(const Exec& exec, const Source& source, const Mark& mark) const {
  first_sums(exec, source, m_pieces, mark, m_sums);
}

void ColumnLevels::write(const Exec& exec, const Source& source, float* values) const {
  if (m_about_mean) {
    column_means(exec, m_pieces, m_sums, m_thresholds);
    sums_about(exec, source, m_pieces, m_thresholds, m_sums);
  }
  column_levels(exec, m_pieces, m_sums, m_about_mean, columns(), values);
}

}  // namespace gradcomp::compressors
