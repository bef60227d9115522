#include "gradcomp/kernels/linear_algebra/blas.hpp"

#include <limits>

#include "gradcomp/core/error.hpp"

namespace gradcomp::kernels {

void detail::check_extents(const GemmShape& s) {
  constexpr index_t max_extent = std::numeric_limits<int>::max();
  require(s.rows >= 0 && s.columns >= 0 && s.inner >= 0 && s.rows <= max_extent && s.columns <= max_extent &&
              s.inner <= max_extent,
          "gemm: extents {} x {} x {} are not in [0, 2^31)", s.rows, s.columns, s.inner);
}

void gemm(const Exec& exec, Transpose transpose_a, Transpose transpose_b, const GemmShape& s, float alpha,
          const Span<const float>& a, const Span<const float>& b, float beta, const Span<float>& c) {
  detail::check_extents(s);
  const auto fits = [](std::size_t have, index_t rows, index_t columns) {
    return have >= static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns);
  };
  require(fits(a.size(), s.rows, s.inner) && fits(b.size(), s.inner, s.columns) && fits(c.size(), s.rows, s.columns),
          "gemm: arrays of {}, {} and {} elements are too short for {} x {} x {}", a.size(), b.size(), c.size(), s.rows,
          s.columns, s.inner);
  gemm<float>(exec, transpose_a, transpose_b, s, alpha, {a.data(), transpose_a == Transpose::yes ? s.rows : s.inner},
              {b.data(), transpose_b == Transpose::yes ? s.inner : s.columns}, beta, {c.data(), s.columns});
}

}  // namespace gradcomp::kernels
