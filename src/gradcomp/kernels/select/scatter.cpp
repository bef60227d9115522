#include "gradcomp/kernels/select/scatter.hpp"

#include "gradcomp/core/read_back.hpp"
#include "gradcomp/core/source.hpp"

namespace gradcomp::kernels {
namespace {

/// Whether entry i may be there, in a list of a bucket of n elements.
KOKKOS_FORCEINLINE_FUNCTION bool is_entry(const std::uint32_t* indices, const float* values, index_t i, index_t n) {
  return static_cast<index_t>(indices[i]) < n && (i == 0 || indices[i - 1] < indices[i]) &&
         Source::is_finite(values[i]);
}

constexpr index_t entries_ahead = 32;

/// Asks for the element that an entry ahead of i will add to. Without it, a core has few such reads under way at once,
/// because the checks between them fill its window of instructions.
KOKKOS_FORCEINLINE_FUNCTION void prefetch_element([[maybe_unused]] const std::uint32_t* indices,
                                                  [[maybe_unused]] index_t i, [[maybe_unused]] index_t count,
                                                  [[maybe_unused]] const Span<float>& out) {
  KOKKOS_IF_ON_HOST((const auto last = static_cast<index_t>(out.size()) - 1;
                     const auto index = static_cast<index_t>(indices[Kokkos::min(i + entries_ahead, count - 1)]);
                     __builtin_prefetch(out.data() + Kokkos::min(index, last), 1);))
}

}  // namespace

index_t count_bad_entries(const Exec& exec, const std::uint32_t* indices, const float* values, index_t count,
                          index_t n) {
  index_t bad = 0;
  Kokkos::parallel_reduce(
      "gradcomp::kernels::count_bad_entries", IndexRange(exec, 0, count),
      KOKKOS_LAMBDA(index_t i, index_t & sum) { sum += is_entry(indices, values, i, n) ? 0 : 1; }, bad);
  wait(exec, "gradcomp::kernels::count_bad_entries");
  return bad;
}

index_t count_non_finite(const Exec& exec, const Span<const float>& values) {
  index_t bad = 0;
  Kokkos::parallel_reduce(
      "gradcomp::kernels::count_non_finite", IndexRange(exec, 0, static_cast<index_t>(values.size())),
      KOKKOS_LAMBDA(index_t i, index_t & sum) { sum += Source::is_finite(values(i)) ? 0 : 1; }, bad);
  wait(exec, "gradcomp::kernels::count_non_finite");
  return bad;
}

void scatter_add(const Exec& exec, const std::uint32_t* indices, const float* values, index_t count, float weight,
                 const Span<float>& out) {
  Kokkos::parallel_for(
      "gradcomp::kernels::scatter_add", IndexRange(exec, 0, count), KOKKOS_LAMBDA(index_t i) {
        prefetch_element(indices, i, count, out);
        out(indices[i]) += weight * values[i];
      });
}

void scatter_received(const Exec& exec, const std::uint32_t* indices, const float* values, index_t count, float weight,
                      Admission admission, const Span<float>& out) {
  if (!admission.settle()) return;
  const auto n = static_cast<index_t>(out.size());
  const index_t asking = device_is_host ? 0 : 1;  // a unit that only asks, because a list may be empty
  Kokkos::parallel_for(
      "gradcomp::kernels::scatter_received", IndexRange(exec, 0, count + asking), KOKKOS_LAMBDA(index_t i) {
        if (!admission.admits(i == count) || i == count) return;
        prefetch_element(indices, i, count, out);
        if (is_entry(indices, values, i, n)) {
          out(indices[i]) += weight * values[i];
        } else {
          admission.faults.broken();
        }
      });
}

}  // namespace gradcomp::kernels
