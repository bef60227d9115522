// kernels/linear_algebra/blas.hpp with KokkosBlas::gemm(), which calls the library that Kokkos Kernels was built with:
// cuBLAS, rocBLAS or a host BLAS.
#ifdef GRADCOMP_HAVE_KOKKOSKERNELS
#include <KokkosBlas3_gemm.hpp>
#include <algorithm>

#include "gradcomp/core/error.hpp"
#include "gradcomp/core/read_back.hpp"
#include "gradcomp/kernels/linear_algebra/blas.hpp"
#include "gradcomp/kernels/linear_algebra/openblas.hpp"

namespace gradcomp::kernels {
namespace {

#if defined(KOKKOS_ENABLE_CUDA)
#if defined(KOKKOSKERNELS_ENABLE_TPL_CUBLAS)
constexpr const char* beneath = "cuBLAS";
#else
constexpr const char* beneath = nullptr;
#endif
#elif defined(KOKKOS_ENABLE_HIP)
#if defined(KOKKOSKERNELS_ENABLE_TPL_ROCBLAS)
constexpr const char* beneath = "rocBLAS";
#else
constexpr const char* beneath = nullptr;
#endif
#elif defined(KOKKOSKERNELS_ENABLE_TPL_MKL)
constexpr const char* beneath = "MKL";
#elif defined(KOKKOSKERNELS_ENABLE_TPL_ARMPL)
constexpr const char* beneath = "ArmPL";
#elif defined(KOKKOSKERNELS_ENABLE_TPL_BLAS)
constexpr const char* beneath = "BLAS";
#else
constexpr const char* beneath = nullptr;
#endif

template <class T, class Layout>
using Matrix = Kokkos::View<T**, Layout, Memory, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

/// A view of rows x columns elements; with LayoutLeft, of their transpose.
template <class Layout, class T>
Matrix<T, Layout> matrix(const Stored<T>& stored, index_t rows, index_t columns) {
  const auto step = static_cast<std::size_t>(stored.step);
  const auto taken = Kokkos::make_pair(index_t{0}, columns);
  if constexpr (std::is_same_v<Layout, Kokkos::LayoutRight>) {
    return Kokkos::subview(Matrix<T, Layout>(stored.data, static_cast<std::size_t>(rows), step), Kokkos::ALL, taken);
  } else {
    return Kokkos::subview(Matrix<T, Layout>(stored.data, step, static_cast<std::size_t>(rows)), taken, Kokkos::ALL);
  }
}

const char* flag(Transpose transpose) { return transpose == Transpose::yes ? "T" : "N"; }

}  // namespace

// KokkosBlas has two short cuts that we must avoid. On a device, it sums a product of op(A) = A^T and op(B) = B with
// few results by atomics, so that the bits may differ from call to call. If B and C have a single column, it assumes
// that their elements are contiguous. The transposed product C^T = op(B)^T op(A)^T of the same arrays, column-major,
// takes neither short cut, except for A B^T, where we use the product itself.
template <class T>
void gemm(const Exec& exec, Transpose transpose_a, Transpose transpose_b, const GemmShape& s, T alpha,
          const Stored<const T>& a, const Stored<const T>& b, T beta, const Stored<T>& c) {
  detail::check_extents(s);
  if (s.rows == 0 || s.columns == 0) return;
  if (device_is_host) use_one_openblas_thread();
  const bool a_as_is = transpose_a == Transpose::no, b_as_is = transpose_b == Transpose::no;
  const auto multiply = [&](auto layout, const auto& product) {
    using Layout = decltype(layout);
    const auto out = matrix<Layout>(c, s.rows, s.columns);
    // without the library of a vendor, a NaN in the old C would survive beta = 0
    if (beneath == nullptr && beta == 0) Kokkos::deep_copy(exec, out, T(0));
    product(matrix<Layout>(a, a_as_is ? s.rows : s.inner, a_as_is ? s.inner : s.rows),
            matrix<Layout>(b, b_as_is ? s.inner : s.columns, b_as_is ? s.columns : s.inner), out);
  };
  if (a_as_is && !b_as_is) {
    multiply(Kokkos::LayoutRight{}, [&](const auto& x, const auto& y, const auto& out) {
      KokkosBlas::gemm(exec, flag(transpose_a), flag(transpose_b), alpha, x, y, beta, out);
    });
  } else {
    multiply(Kokkos::LayoutLeft{}, [&](const auto& x, const auto& y, const auto& out) {
      KokkosBlas::gemm(exec, flag(transpose_b), flag(transpose_a), alpha, y, x, beta, out);
    });
  }
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

std::string blas_description() {
  const auto library = fmt::format("KokkosBlas {}.{}.{}", KOKKOSKERNELS_VERSION_MAJOR, KOKKOSKERNELS_VERSION_MINOR,
                                   KOKKOSKERNELS_VERSION_PATCH);
  if (beneath == nullptr) return library + " alone";
  const std::string openblas = device_is_host ? openblas_description() : "";
  return fmt::format("{} over {}", library, openblas.empty() ? beneath : openblas);
}

}  // namespace gradcomp::kernels
#endif
