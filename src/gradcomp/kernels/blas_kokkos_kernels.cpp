// KokkosBlas::gemm behind kernels/blas.hpp: cuBLAS, rocBLAS or a host BLAS, whichever Kokkos Kernels was built with.
#ifdef GRADCOMP_HAVE_KOKKOSKERNELS
#include <KokkosBlas3_gemm.hpp>
#include <algorithm>

#include "gradcomp/core/read_back.hpp"
#include "gradcomp/kernels/blas.hpp"

// The host BLAS beneath may be OpenBLAS; its threads would oversubscribe those of Kokkos.
extern "C" void openblas_set_num_threads(int) __attribute__((weak));

namespace gradcomp::kernels {
namespace {

template <class T>
using Matrix = Kokkos::View<T**, Kokkos::LayoutRight, Memory, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

/// What is stored of a factor of rows x columns.
template <class T>
Matrix<T> matrix(const Stored<T>& stored, Transpose transpose, index_t rows, index_t columns) {
  if (transpose == Transpose::yes) std::swap(rows, columns);
  return Kokkos::subview(Matrix<T>(stored.data, static_cast<std::size_t>(rows), static_cast<std::size_t>(stored.step)),
                         Kokkos::ALL, Kokkos::make_pair(index_t{0}, columns));
}

const char* flag(Transpose transpose) { return transpose == Transpose::yes ? "T" : "N"; }

}  // namespace

template <class T>
void gemm(const Exec& exec, Transpose transpose_a, Transpose transpose_b, const GemmShape& shape, T alpha,
          const Stored<const T>& a, const Stored<const T>& b, T beta, const Stored<T>& c) {
  detail::check_extents(shape);
  if (shape.rows == 0 || shape.columns == 0) return;
  if (device_is_host && openblas_set_num_threads != nullptr) openblas_set_num_threads(1);
  const auto out = matrix(c, Transpose::no, shape.rows, shape.columns);
  // a NaN in what C held must not survive beta = 0, whatever the library beneath does with 0 x NaN
  if (beta == 0) Kokkos::deep_copy(exec, out, T(0));
  KokkosBlas::gemm(exec, flag(transpose_a), flag(transpose_b), alpha, matrix(a, transpose_a, shape.rows, shape.inner),
                   matrix(b, transpose_b, shape.inner, shape.columns), beta, out);
}

template void gemm<float>(const Exec&, Transpose, Transpose, const GemmShape&, float, const Stored<const float>&,
                          const Stored<const float>&, float, const Stored<float>&);
template void gemm<double>(const Exec&, Transpose, Transpose, const GemmShape&, double, const Stored<const double>&,
                           const Stored<const double>&, double, const Stored<double>&);

double sgemm_peak(const Exec& exec) {
  const index_t n = device_is_host ? 768 : 4096;
  const Vector<float> a("gradcomp::kernels::sgemm_peak", static_cast<std::size_t>(n * n));
  const Vector<float> c("gradcomp::kernels::sgemm_peak", static_cast<std::size_t>(n * n));
  double best = 0;
  for (int run = 0; run < 8; ++run) {
    wait(exec, "gradcomp::kernels::sgemm_peak");
    const Kokkos::Timer clock;
    gemm(exec, Transpose::no, Transpose::no, {n, n, n}, 1.0f, a, a, 0.0f, c);
    wait(exec, "gradcomp::kernels::sgemm_peak");
    best = std::max(best, GemmShape{n, n, n}.flops() / clock.seconds() * 1e-9);
  }
  return best;
}

std::string blas_description() { return "KokkosBlas"; }

}  // namespace gradcomp::kernels
#endif
