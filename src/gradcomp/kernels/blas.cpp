#include "gradcomp/kernels/blas.hpp"

#include <limits>

#include "gradcomp/core/error.hpp"

namespace gradcomp::kernels::detail {

void check_gemm(const GemmShape& s, std::size_t a, std::size_t b, std::size_t c) {
  constexpr index_t most = std::numeric_limits<int>::max();
  require(s.rows >= 0 && s.columns >= 0 && s.inner >= 0 && s.rows <= most && s.columns <= most && s.inner <= most,
          "gemm: extents {} x {} x {} are not in [0, 2^31)", s.rows, s.columns, s.inner);
  const auto fits = [](std::size_t have, index_t rows, index_t columns) {
    return have >= static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns);
  };
  require(fits(a, s.rows, s.inner) && fits(b, s.inner, s.columns) && fits(c, s.rows, s.columns),
          "gemm: arrays of {}, {} and {} elements are too short for {} x {} x {}", a, b, c, s.rows, s.columns, s.inner);
}

}  // namespace gradcomp::kernels::detail
