#pragma once
// The one door to dense linear algebra: blas_kokkos_kernels.cpp (KokkosBlas::gemm: cuBLAS, rocBLAS or a host BLAS) in a
// build with GRADCOMP_ENABLE_KOKKOS_KERNELS, otherwise blas_host.cpp (CBLAS, single-threaded inside each call). Sums
// are in the vendor's order: results may differ between devices in the last bits, but not between calls on one device.
// What becomes bytes of a payload must not come from here; docs/kokkos-kernels.md says what that leaves out.
#include <string>

#include "gradcomp/core/types.hpp"

namespace gradcomp::kernels {

enum class Transpose : std::uint8_t { no, yes };

/// C is rows x columns, op(A) rows x inner, op(B) inner x columns.
struct GemmShape {
  index_t rows = 0, columns = 0, inner = 0;
  double flops() const {
    return 2.0 * static_cast<double>(rows) * static_cast<double>(columns) * static_cast<double>(inner);
  }
};

/// Whether gemm() works on this build's device: on a GPU only with Kokkos Kernels.
#ifdef GRADCOMP_HAVE_KOKKOSKERNELS
inline constexpr bool has_gemm = true;
#else
inline constexpr bool has_gemm = device_is_host;
#endif

/// A matrix as stored: rows of contiguous elements, `step` elements from row to row.
template <class T>
struct Stored {
  T* data;
  index_t step;
};

/// C = alpha op(A) op(B) + beta C, float or double; otherwise as gemm() below, but that nobody checks the arrays.
template <class T>
void gemm(const Exec& exec, Transpose transpose_a, Transpose transpose_b, const GemmShape& shape, T alpha,
          const Stored<const T>& a, const Stored<const T>& b, T beta, const Stored<T>& c);

/// C = alpha op(A) op(B) + beta C, float, all row-major and contiguous as stored: A is rows x inner, or inner x rows
/// where transposed; B and C likewise. beta = 0 ignores what C held. Throws Error when an array is shorter than its
/// shape or an extent exceeds 2^31 - 1 (the range of a BLAS integer). Ordered on `exec`; on a host it has run on
/// return.
void gemm(const Exec& exec, Transpose transpose_a, Transpose transpose_b, const GemmShape& shape, float alpha,
          const Span<const float>& a, const Span<const float>& b, float beta, const Span<float>& c);

/// GFLOP/s of the best float gemm here, the measure beside which reports put a model's speed: on a host every Kokkos
/// thread runs a single-threaded gemm of its own, on a device one large gemm. Best of a few runs, some 100 ms in all;
/// allocates.
double sgemm_peak(const Exec& exec);

/// What does the work, as results record it: "KokkosBlas 5.0.2 over cuBLAS" ("alone": over no vendor's library), or
/// OpenBLAS' own description with its core type (one that takes a new CPU for an old one costs half the speed).
std::string blas_description();

namespace detail {
/// Throws Error unless the extents are in the range of a BLAS integer.
void check_extents(const GemmShape& shape);
}  // namespace detail

}  // namespace gradcomp::kernels
