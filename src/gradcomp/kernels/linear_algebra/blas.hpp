#pragma once
// All calls of BLAS (the basic linear algebra subprograms) go through this file. A build with
// GRADCOMP_ENABLE_KOKKOS_KERNELS uses blas_kokkos_kernels.cpp (KokkosBlas::gemm() over cuBLAS, rocBLAS or a host BLAS);
// other builds use blas_host.cpp (CBLAS, single-threaded inside each call). Sums have the order of the library: results
// may differ between devices in the last bits, but not between calls on one device. Therefore nothing that becomes
// bytes of a payload may be computed here; docs/kokkos-kernels.md says which kernels this concerns.
#include <string>

#include "gradcomp/core/types.hpp"

namespace gradcomp::kernels {

enum class Transpose : std::uint8_t { no, yes };

/// C is rows x columns, op(A) is rows x inner, and op(B) is inner x columns.
struct GemmShape {
  index_t rows = 0, columns = 0, inner = 0;
  double flops() const {
    return 2.0 * static_cast<double>(rows) * static_cast<double>(columns) * static_cast<double>(inner);
  }
};

/// Whether gemm() works on the device of this build: on a GPU only with Kokkos Kernels.
#ifdef GRADCOMP_HAVE_KOKKOSKERNELS
inline constexpr bool has_gemm = true;
#else
inline constexpr bool has_gemm = device_is_host;
#endif

/// A stored matrix: rows of contiguous elements, which start every `step` elements.
template <class T>
struct Stored {
  T* data;
  index_t step;
};

/// C = alpha op(A) op(B) + beta C, for float or double. As gemm() below, but the lengths of the arrays are not checked.
template <class T>
void gemm(const Exec& exec, Transpose transpose_a, Transpose transpose_b, const GemmShape& shape, T alpha,
          const Stored<const T>& a, const Stored<const T>& b, T beta, const Stored<T>& c);

/// C = alpha op(A) op(B) + beta C, for float. All matrices are stored row-major and contiguous: A as rows x inner, or
/// as inner x rows if it is transposed; B likewise. beta = 0 ignores the old values of C. Throws Error if an array is
/// too short or an extent exceeds 2^31 - 1 (the range of a BLAS integer). Ordered on `exec`; on a host, it has ended
/// when this returns.
void gemm(const Exec& exec, Transpose transpose_a, Transpose transpose_b, const GemmShape& shape, float alpha,
          const Span<const float>& a, const Span<const float>& b, float beta, const Span<float>& c);

/// The speed of the best float gemm on this machine in GFLOP/s, with which reports compare the speed of a model. With
/// CBLAS, every Kokkos thread runs a single-threaded gemm of its own; with Kokkos Kernels, there is one large gemm.
/// Takes the best of a few runs, about 100 ms in all; allocates.
double sgemm_peak(const Exec& exec);

/// The library that does the work, for results: "KokkosBlas 5.0.2 over cuBLAS" ("KokkosBlas 5.0.2 alone" without the
/// library of a vendor), or OpenBLAS' own description with its core type (half the speed is lost if OpenBLAS takes a
/// new CPU for an old one).
std::string blas_description();

namespace detail {
/// Throws Error unless the extents are in the range of a BLAS integer.
void check_extents(const GemmShape& shape);
}  // namespace detail

}  // namespace gradcomp::kernels
