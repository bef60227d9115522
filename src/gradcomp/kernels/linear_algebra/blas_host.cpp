// kernels/linear_algebra/blas.hpp with CBLAS (OpenBLAS), for host builds without Kokkos Kernels.
#ifndef GRADCOMP_HAVE_KOKKOSKERNELS
#include <cblas.h>

#include <algorithm>
#include <type_traits>

#include "gradcomp/core/read_back.hpp"
#include "gradcomp/kernels/linear_algebra/blas.hpp"
#include "gradcomp/kernels/linear_algebra/openblas.hpp"

namespace gradcomp::kernels {
namespace {

CBLAS_TRANSPOSE flag(Transpose transpose) { return transpose == Transpose::yes ? CblasTrans : CblasNoTrans; }

int extent(index_t value) { return static_cast<int>(std::max<index_t>(value, 1)); }

}  // namespace

template <class T>
void gemm(const Exec& exec, Transpose transpose_a, Transpose transpose_b, const GemmShape& shape, T alpha,
          const Stored<const T>& a, const Stored<const T>& b, T beta, const Stored<T>& c) {
  detail::check_extents(shape);
  if (shape.rows == 0 || shape.columns == 0) return;
  wait(exec, "gradcomp::kernels::gemm");  // the call below is not a Kokkos kernel
  use_one_openblas_thread();
  const auto multiply = [&](const auto& product) {
    product(CblasRowMajor, flag(transpose_a), flag(transpose_b), static_cast<int>(shape.rows),
            static_cast<int>(shape.columns), static_cast<int>(shape.inner), alpha, a.data, extent(a.step), b.data,
            extent(b.step), beta, c.data, extent(c.step));
  };
  if constexpr (std::is_same_v<T, float>) {
    multiply(cblas_sgemm);
  } else {
    multiply(cblas_dgemm);
  }
}

template void gemm<float>(const Exec&, Transpose, Transpose, const GemmShape&, float, const Stored<const float>&,
                          const Stored<const float>&, float, const Stored<float>&);
template void gemm<double>(const Exec&, Transpose, Transpose, const GemmShape&, double, const Stored<const double>&,
                           const Stored<const double>&, double, const Stored<double>&);

double sgemm_peak(const Exec& exec) {
  constexpr index_t n = 384;  // three matrices of 0.6 MB fit about into a second-level cache, so memory is no limit
  constexpr int products = 4, runs = 8;
  const index_t threads = exec.concurrency();
  use_one_openblas_thread();
  const Kokkos::View<float*, Kokkos::HostSpace> work("gradcomp::kernels::sgemm_peak",
                                                     static_cast<std::size_t>(3 * n * n * threads));
  Kokkos::deep_copy(exec, work, 1.0f);
  double best = 0;
  for (int run = 0; run < runs; ++run) {
    wait(exec, "gradcomp::kernels::sgemm_peak");
    const Kokkos::Timer clock;
    Kokkos::parallel_for(
        "gradcomp::kernels::sgemm_peak",
        Kokkos::RangePolicy<Exec, Kokkos::Schedule<Kokkos::Static>>(exec, 0, threads, Kokkos::ChunkSize(1)),
        [=](const index_t thread) {
          float* const a = work.data() + 3 * n * n * thread;
          for (int i = 0; i < products; ++i) {
            cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, n, n, n, 1.0f, a, n, a + n * n, n, 0.0f,
                        a + 2 * n * n, n);
          }
        });
    wait(exec, "gradcomp::kernels::sgemm_peak");
    const double flops = GemmShape{n, n, n}.flops() * products * static_cast<double>(threads);
    best = std::max(best, flops / clock.seconds() * 1e-9);
  }
  return best;
}

std::string blas_description() {
  const std::string openblas = openblas_description();
  return openblas.empty() ? "CBLAS" : openblas;
}

}  // namespace gradcomp::kernels
#endif
