#include "gradcomp/nn/gemm/column_sums.hpp"

#include "gradcomp/kernels/lanes/lanes.hpp"

namespace gradcomp::nn {

template <class T>
void column_sums(const Exec& exec, const Matrix<const T>& x, const Span<T>& scratch, const Span<T>& to) {
  using kernels::warp_lanes;
  const index_t columns = x.columns, blocks = (columns + warp_lanes - 1) / warp_lanes;
  const index_t chunks = (x.rows + rows_per_sum - 1) / rows_per_sum;
  kernels::for_warps(
      "gradcomp::nn::column_sums", exec, chunks * blocks, KOKKOS_LAMBDA(const kernels::Warp& warp, const index_t i) {
        const index_t chunk = i / blocks, first = i % blocks * warp_lanes;
        const index_t end = (chunk + 1) * rows_per_sum < x.rows ? (chunk + 1) * rows_per_sum : x.rows;
        kernels::Lanes<T> sum;
        warp.each([&](int l) { sum[l] = 0; });
        if (first + warp_lanes <= columns) {
          for (index_t row = chunk * rows_per_sum; row < end; ++row) {
            const T* from = &x(row, first);
            warp.each([&](int l) { sum[l] += from[l]; });
          }
        } else {
          for (index_t row = chunk * rows_per_sum; row < end; ++row) {
            const T* from = &x(row, first);
            warp.each([&](int l) {
              if (first + l < columns) sum[l] += from[l];
            });
          }
        }
        warp.each([&](int l) {
          if (first + l < columns) scratch(chunk * columns + first + l) = sum[l];
        });
      });
  Kokkos::parallel_for(
      "gradcomp::nn::column_sums", IndexRange(exec, 0, columns), KOKKOS_LAMBDA(const index_t j) {
        double sum = 0;
        for (index_t chunk = 0; chunk < chunks; ++chunk) sum += double(scratch(chunk * columns + j));
        to(j) = static_cast<T>(sum);
      });
}

#define GRADCOMP_INSTANTIATE(T) \
  template void column_sums<T>(const Exec&, const Matrix<const T>&, const Span<T>&, const Span<T>&);
GRADCOMP_INSTANTIATE(float)
GRADCOMP_INSTANTIATE(double)
#undef GRADCOMP_INSTANTIATE

}  // namespace gradcomp::nn
