#include "gradcomp/kernels/select/scatter.hpp"

#include "gradcomp/core/read_back.hpp"
#include "gradcomp/core/source.hpp"
#include "gradcomp/kernels/lanes/lanes.hpp"

namespace gradcomp::kernels {

index_t count_bad_entries(const Exec& exec, const std::uint32_t* indices, const float* values, index_t count,
                          index_t n) {
  index_t bad = 0;
  Kokkos::parallel_reduce(
      "gradcomp::kernels::count_bad_entries", IndexRange(exec, 0, count),
      KOKKOS_LAMBDA(index_t i, index_t & sum) {
        const bool good = static_cast<index_t>(indices[i]) < n && (i == 0 || indices[i - 1] < indices[i]) &&
                          Source::is_finite(values[i]);
        sum += good ? 0 : 1;
      },
      bad);
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

/// An entry of a sparse payload. (nvcc takes no type in an unnamed namespace or in a function as part of a kernel.)
struct SparseEntry {
  std::uint32_t index;
  float value;
};

void scatter_add(const Exec& exec, const std::uint32_t* indices, const float* values, index_t count, float weight,
                 const Span<float>& out) {
  for_elements(
      "gradcomp::kernels::scatter_add", exec, count,
      KOKKOS_LAMBDA(index_t i) { return SparseEntry{indices[i], values[i]}; },
      KOKKOS_LAMBDA(index_t, const SparseEntry& entry) { out(entry.index) += weight * entry.value; });
}

}  // namespace gradcomp::kernels
