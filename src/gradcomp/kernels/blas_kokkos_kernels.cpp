// KokkosBlas::gemm behind kernels/blas.hpp: cuBLAS, rocBLAS or a host BLAS, whichever Kokkos Kernels was built with.
#ifdef GRADCOMP_HAVE_KOKKOSKERNELS
#include <KokkosBlas3_gemm.hpp>
#include <algorithm>

#include "gradcomp/kernels/blas.hpp"

// The host BLAS beneath may be OpenBLAS; its threads would oversubscribe those of Kokkos.
extern "C" void openblas_set_num_threads(int) __attribute__((weak));

namespace gradcomp::kernels {
namespace {

template <class T>
using Matrix = Kokkos::View<T**, Kokkos::LayoutRight, Memory, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

template <class T>
Matrix<T> matrix(const Span<T>& data, Transpose transpose, index_t rows, index_t columns) {
  if (transpose == Transpose::yes) std::swap(rows, columns);
  return Matrix<T>(data.data(), static_cast<std::size_t>(rows), static_cast<std::size_t>(columns));
}

const char* flag(Transpose transpose) { return transpose == Transpose::yes ? "T" : "N"; }

}  // namespace

void gemm(const Exec& exec, Transpose transpose_a, Transpose transpose_b, const GemmShape& shape, float alpha,
          const Span<const float>& a, const Span<const float>& b, float beta, const Span<float>& c) {
  detail::check_gemm(shape, a.size(), b.size(), c.size());
  if (shape.rows == 0 || shape.columns == 0) return;
  if (device_is_host && openblas_set_num_threads != nullptr) openblas_set_num_threads(1);
  const auto out = matrix(c, Transpose::no, shape.rows, shape.columns);
  // a NaN in what C held must not survive beta = 0, whatever the library beneath does with 0 x NaN
  if (beta == 0) Kokkos::deep_copy(exec, out, 0.0f);
  KokkosBlas::gemm(exec, flag(transpose_a), flag(transpose_b), alpha, matrix(a, transpose_a, shape.rows, shape.inner),
                   matrix(b, transpose_b, shape.inner, shape.columns), beta, out);
}

double sgemm_peak(const Exec& exec) {
  const index_t n = device_is_host ? 768 : 4096;
  const Vector<float> a("gradcomp::kernels::sgemm_peak", static_cast<std::size_t>(n * n));
  const Vector<float> c("gradcomp::kernels::sgemm_peak", static_cast<std::size_t>(n * n));
  double best = 0;
  for (int run = 0; run < 8; ++run) {
    exec.fence("gradcomp::kernels::sgemm_peak");
    const Kokkos::Timer clock;
    gemm(exec, Transpose::no, Transpose::no, {n, n, n}, 1.0f, a, a, 0.0f, c);
    exec.fence("gradcomp::kernels::sgemm_peak");
    best = std::max(best, GemmShape{n, n, n}.flops() / clock.seconds() * 1e-9);
  }
  return best;
}

std::string blas_description() { return "KokkosBlas"; }

}  // namespace gradcomp::kernels
#endif
