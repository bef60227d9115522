#include "gradcomp/kernels/select/owned_sums.hpp"

#include "gradcomp/core/read_back.hpp"
#include "gradcomp/kernels/lanes/tiles.hpp"
#include "gradcomp/kernels/select/scatter.hpp"

namespace gradcomp::kernels {
namespace {

/// Elements of a row. Sums are mostly zeros, so a loop that vectorises first tests whether a whole row is zero.
constexpr index_t row_size = 32;

KOKKOS_FORCEINLINE_FUNCTION bool is_zero(const float* row, index_t count) {
  std::int32_t any = 0;
  for (index_t l = 0; l < count; ++l) any |= magnitude(row[l]);
  return any == 0;
}

KOKKOS_FORCEINLINE_FUNCTION index_t row_length(index_t row, index_t elements) {
  const index_t left = elements - row * row_size;
  return left < row_size ? left : row_size;
}

/// The rows of `count` elements.
IndexRange rows(const Exec& exec, index_t count) { return {exec, 0, (count + row_size - 1) / row_size}; }

KOKKOS_FORCEINLINE_FUNCTION std::int32_t bin_of(float value) { return magnitude(value) >> magnitude_bin_shift; }

}  // namespace

void equal_parts(const Exec& exec, const SparseView& list, index_t elements, int parts, const Vector<index_t>& cuts) {
  Kokkos::parallel_for(
      "gradcomp::kernels::equal_parts", IndexRange(exec, 1, parts), KOKKOS_LAMBDA(index_t p) {
        cuts(p - 1) = list.kept == 0 ? p * elements / parts : static_cast<index_t>(list.indices[p * list.kept / parts]);
      });
}

void entries_below(const Exec& exec, const SparseView& list, const Vector<index_t>& bounds,
                   const Vector<index_t>& starts) {
  Kokkos::parallel_for(
      "gradcomp::kernels::entries_below", IndexRange(exec, 0, static_cast<index_t>(bounds.size())),
      KOKKOS_LAMBDA(index_t p) { starts(p) = first_entry(list.indices, bounds(p), 0, list.kept); });
}

void magnitude_histogram(const Exec& exec, const Span<const float>& sums, const Vector<std::int32_t>& bins) {
  Kokkos::deep_copy(exec, bins, 0);
  const auto n = static_cast<index_t>(sums.size());
  Kokkos::parallel_for(
      "gradcomp::kernels::magnitude_histogram", rows(exec, n), KOKKOS_LAMBDA(index_t r) {
        const float* const row = sums.data() + r * row_size;
        const index_t count = row_length(r, n);
        if (is_zero(row, count)) return;
        for (index_t l = 0; l < count; ++l) {
          if (magnitude(row[l]) != 0) Kokkos::atomic_inc(&bins(bin_of(row[l])));  // integers, so any order is right
        }
      });
}

MagnitudeCut cut_of(const std::int32_t* all, const std::int32_t* own, index_t max_entries) {
  index_t above = 0;
  for (std::int32_t bin = magnitude_bins - 1; bin >= 0; --bin) {
    if (above + all[bin] > max_entries) return {bin, (max_entries - above) * own[bin] / all[bin]};
    above += all[bin];
  }
  return {};
}

index_t take_above(const Exec& exec, const Span<float>& sums, index_t first, const MagnitudeCut& cut,
                   std::uint32_t* indices, float* values) {
  // the high half counts elements above the bin, the low half those in it; a bucket has less than 2^32 elements
  std::uint64_t counts = 0;
  const auto n = static_cast<index_t>(sums.size());
  Kokkos::parallel_scan(
      "gradcomp::kernels::take_above", rows(exec, n),
      KOKKOS_LAMBDA(index_t r, std::uint64_t& before, bool last) {
        float* const row = sums.data() + r * row_size;
        const index_t count = row_length(r, n);
        if (is_zero(row, count)) return;
        for (index_t l = 0; l < count; ++l) {
          const float value = row[l];
          if (magnitude(value) == 0 || bin_of(value) < cut.bin) continue;
          const bool above = bin_of(value) > cut.bin;
          const auto ties = static_cast<index_t>(before & 0xffffffffu);
          if (last && (above || ties < cut.share)) {
            const index_t place = static_cast<index_t>(before >> 32) + (ties < cut.share ? ties : cut.share);
            indices[place] = static_cast<std::uint32_t>(first + r * row_size + l);
            values[place] = value;
            row[l] = 0;
          }
          before += above ? std::uint64_t{1} << 32 : std::uint64_t{1};
        }
      },
      counts);
  wait(exec, "gradcomp::kernels::take_above");
  return static_cast<index_t>(counts >> 32) + Kokkos::min(static_cast<index_t>(counts & 0xffffffffu), cut.share);
}

}  // namespace gradcomp::kernels
