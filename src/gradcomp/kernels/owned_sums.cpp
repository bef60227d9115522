#include "gradcomp/kernels/owned_sums.hpp"

#include "gradcomp/kernels/tiles.hpp"

namespace gradcomp::kernels {
namespace {

using Entries = Kokkos::RangePolicy<Exec, Kokkos::IndexType<index_t>>;

KOKKOS_FORCEINLINE_FUNCTION std::int32_t bin_of(float value) { return magnitude(value) >> magnitude_bin_shift; }

}  // namespace

void equal_parts(const Exec& exec, const SparseView& list, index_t elements, int parts, const Vector<index_t>& cuts) {
  Kokkos::parallel_for(
      "gradcomp::kernels::equal_parts", Entries(exec, 1, parts), KOKKOS_LAMBDA(index_t p) {
        cuts(p - 1) = list.kept == 0 ? p * elements / parts : static_cast<index_t>(list.indices[p * list.kept / parts]);
      });
}

void entries_below(const Exec& exec, const SparseView& list, const Vector<index_t>& bounds,
                   const Vector<index_t>& starts) {
  Kokkos::parallel_for(
      "gradcomp::kernels::entries_below", Entries(exec, 0, static_cast<index_t>(bounds.size())),
      KOKKOS_LAMBDA(index_t p) {
        index_t low = 0, high = list.kept;
        while (low < high) {
          const index_t middle = low + (high - low) / 2;
          if (static_cast<index_t>(list.indices[middle]) < bounds(p)) {
            low = middle + 1;
          } else {
            high = middle;
          }
        }
        starts(p) = low;
      });
}

void magnitude_histogram(const Exec& exec, const Span<const float>& sums, const Vector<std::int32_t>& bins) {
  Kokkos::deep_copy(exec, bins, 0);
  Kokkos::parallel_for(
      "gradcomp::kernels::magnitude_histogram", Entries(exec, 0, static_cast<index_t>(sums.size())),
      KOKKOS_LAMBDA(index_t i) {
        if (magnitude(sums(i)) != 0) Kokkos::atomic_inc(&bins(bin_of(sums(i))));  // integers: any order will do
      });
}

MagnitudeCut cut_of(const std::int32_t* all, const std::int32_t* own, index_t most) {
  index_t above = 0;
  for (std::int32_t bin = magnitude_bins - 1; bin >= 0; --bin) {
    if (above + all[bin] > most) return {bin, (most - above) * own[bin] / all[bin]};
    above += all[bin];
  }
  return {};
}

index_t take_above(const Exec& exec, const Span<float>& sums, index_t first, const MagnitudeCut& cut,
                   std::uint32_t* indices, float* values) {
  // above the bin in the high half, in it in the low half: neither exceeds the 2^32 elements of a bucket
  std::uint64_t counts = 0;
  Kokkos::parallel_scan(
      "gradcomp::kernels::take_above", Entries(exec, 0, static_cast<index_t>(sums.size())),
      KOKKOS_LAMBDA(index_t i, std::uint64_t& before, bool last) {
        const float value = sums(i);
        if (magnitude(value) == 0 || bin_of(value) < cut.bin) return;
        const bool above = bin_of(value) > cut.bin;
        if (last) {
          const auto ties = static_cast<index_t>(before & 0xffffffffu);
          if (above || ties < cut.share) {
            const index_t place = static_cast<index_t>(before >> 32) + (ties < cut.share ? ties : cut.share);
            indices[place] = static_cast<std::uint32_t>(first + i);
            values[place] = value;
            sums(i) = 0;
          }
        }
        before += above ? std::uint64_t{1} << 32 : std::uint64_t{1};
      },
      counts);
  exec.fence("gradcomp::kernels::take_above");
  return static_cast<index_t>(counts >> 32) + Kokkos::min(static_cast<index_t>(counts & 0xffffffffu), cut.share);
}

}  // namespace gradcomp::kernels
