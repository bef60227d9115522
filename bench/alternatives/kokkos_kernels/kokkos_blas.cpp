#ifdef GRADCOMP_HAVE_KOKKOSKERNELS
#include <KokkosBlas1_axpby.hpp>
#include <KokkosBlas1_dot.hpp>
#include <KokkosBlas1_nrm2.hpp>
#include <KokkosBlas2_gemv.hpp>

#include "blas_contenders.hpp"
#include "gradcomp/kernels/linear_algebra/blas.hpp"

namespace gradcomp::bench {
namespace {

using kernels::Transpose;
using RowMajor = Kokkos::View<const float**, Kokkos::LayoutRight, Memory, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

template <class T>
Span<T> elements(T* first, index_t count) {
  return Span<T>(first, static_cast<std::size_t>(count));
}

struct KokkosBlasLibrary {
  static constexpr const char* sum = "axpby";

  static std::string routine(const std::string& what) { return what; }
  static std::string name(const std::string& what) { return "KokkosBlas::" + what; }

  static void gemv(const Exec& exec, bool transposed, int rows, int columns, const float* a, const float* x, float* y) {
    KokkosBlas::gemv(exec, transposed ? "T" : "N", 1.0f, RowMajor(a, rows, columns),
                     elements(x, transposed ? rows : columns), 0.0f, elements(y, transposed ? columns : rows));
  }
  /// Calls our gemm(), which avoids two short cuts of KokkosBlas (blas_kokkos_kernels.cpp).
  static void gemm(const Exec& exec, bool transposed, int rows, int columns, int inner, const float* a, const float* b,
                   float* c) {
    kernels::gemm<float>(exec, Transpose::no, transposed ? Transpose::yes : Transpose::no, {rows, columns, inner}, 1,
                         {a, inner}, {b, transposed ? inner : columns}, 0, {c, columns});
  }
  static void axpy(const Exec& exec, const Span<const float>& x, const Vector<float>& y) {
    KokkosBlas::axpby(exec, 1.0f, x, 1.0f, y);
  }
  static float nrm2(const Exec& exec, const Span<const float>& x) { return KokkosBlas::nrm2(exec, x); }
  static float dot(const Exec& exec, const Span<const float>& x) { return KokkosBlas::dot(exec, x, x); }
};

}  // namespace

std::vector<Contender> kokkos_blas_contenders(const SharedBucket& bucket) {
  return blas_contenders<KokkosBlasLibrary>(bucket);
}

}  // namespace gradcomp::bench
#endif
