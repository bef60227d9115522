#include "gradcomp/nn/layers/embedding.hpp"

#include "gradcomp/kernels/lanes/lanes.hpp"

namespace gradcomp::nn {
namespace {

/// add_rows() with one warp per row. The warp of the first row of a token adds all rows of this token. One warp per
/// block of columns would be too few for a device.
template <class T>
void add_rows_by_token(const Exec& exec, const Matrix<const T>& dy, const Span<const std::int32_t>& tokens,
                       const Matrix<T>& table) {
  using kernels::warp_lanes;
  kernels::for_warps(
      "gradcomp::nn::add_rows", exec, dy.rows, KOKKOS_LAMBDA(const kernels::Warp& warp, const index_t first) {
        const std::int32_t token = tokens(first);
        if (token < 0 || token >= table.rows) return;
        // bit l: whether row + l is below `end` and has the token
        const auto same = [&](index_t row, index_t end) {
          return warp.ballot([&](int l) { return row + l < end && tokens(row + l) == token; });
        };
        for (index_t row = 0; row < first; row += warp_lanes) {
          if (same(row, first) != 0) return;
        }
        T* to = &table(token, 0);
        for (index_t row = first; row < dy.rows; row += warp_lanes) {
          for (std::uint32_t mask = same(row, dy.rows); mask != 0; mask &= mask - 1) {
            const T* from = &dy(row + Kokkos::countr_zero(mask), 0);
            kernels::each_element(warp, dy.columns, [&](int, index_t j) { to[j] += from[j]; });
          }
        }
      });
}

}  // namespace

template <class T>
void gather_rows(const Exec& exec, const Matrix<const T>& table, const Span<const std::int32_t>& tokens,
                 const Matrix<T>& to) {
  const index_t columns = to.columns;
  kernels::for_warps(
      "gradcomp::nn::gather_rows", exec, to.rows, KOKKOS_LAMBDA(const kernels::Warp& warp, const index_t row) {
        const std::int32_t token = tokens(row);
        T* result = &to(row, 0);
        if (token >= 0 && token < table.rows) {
          const T* from = &table(token, 0);
          kernels::each_element(warp, columns, [&](int, index_t j) { result[j] = from[j]; });
        } else {
          kernels::each_element(warp, columns, [&](int, index_t j) { result[j] = T(0); });
        }
      });
}

template <class T>
void add_rows(const Exec& exec, const Matrix<const T>& dy, const Span<const std::int32_t>& tokens,
              const Matrix<T>& table, Path path) {
  if (taken(path) == Path::device) return add_rows_by_token<T>(exec, dy, tokens, table);
  const index_t blocks = (dy.columns + kernels::warp_lanes - 1) / kernels::warp_lanes, columns = dy.columns;
  kernels::for_warps(
      "gradcomp::nn::add_rows", exec, blocks, KOKKOS_LAMBDA(const kernels::Warp& warp, const index_t block) {
        const index_t first = block * kernels::warp_lanes;
        for (index_t row = 0; row < dy.rows; ++row) {
          const std::int32_t token = tokens(row);
          if (token < 0 || token >= table.rows) continue;
          const T* from = &dy(row, first);
          T* to = &table(token, first);
          warp.each([&](int l) {
            if (first + l < columns) to[l] += from[l];
          });
        }
      });
}

template <class T>
void add_positions(const Exec& exec, const Matrix<const T>& positions, const Matrix<T>& x) {
  const index_t columns = x.columns, sequences = x.rows / positions.rows;
  kernels::for_warps(
      "gradcomp::nn::add_positions", exec, x.rows, KOKKOS_LAMBDA(const kernels::Warp& warp, const index_t row) {
        const T* from = &positions(row / sequences, 0);
        T* to = &x(row, 0);
        kernels::each_element(warp, columns, [&](int, index_t j) { to[j] += from[j]; });
      });
}

template <class T>
void sum_positions(const Exec& exec, const Matrix<const T>& dy, const Matrix<T>& positions) {
  const index_t columns = dy.columns, sequences = dy.rows / positions.rows;
  kernels::for_warps(
      "gradcomp::nn::sum_positions", exec, positions.rows,
      KOKKOS_LAMBDA(const kernels::Warp& warp, const index_t step) {
        T* to = &positions(step, 0);
        kernels::each_element(warp, columns, [&](int, index_t j) { to[j] = T(0); });
        for (index_t row = step * sequences; row < (step + 1) * sequences; ++row) {
          const T* from = &dy(row, 0);
          kernels::each_element(warp, columns, [&](int, index_t j) { to[j] += from[j]; });
        }
      });
}

void order_by_step(const Exec& exec, const Span<const std::int32_t>& tokens, index_t sequences, index_t steps,
                   const Span<std::int32_t>& to) {
  Kokkos::parallel_for(
      "gradcomp::nn::order_by_step", IndexRange(exec, 0, sequences * steps),
      KOKKOS_LAMBDA(const index_t row) { to(row) = tokens(row % sequences * steps + row / sequences); });
}

#define GRADCOMP_INSTANTIATE(T)                                                                                     \
  template void gather_rows<T>(const Exec&, const Matrix<const T>&, const Span<const std::int32_t>&,                \
                               const Matrix<T>&);                                                                   \
  template void add_rows<T>(const Exec&, const Matrix<const T>&, const Span<const std::int32_t>&, const Matrix<T>&, \
                            Path);                                                                                  \
  template void add_positions<T>(const Exec&, const Matrix<const T>&, const Matrix<T>&);                            \
  template void sum_positions<T>(const Exec&, const Matrix<const T>&, const Matrix<T>&);
GRADCOMP_INSTANTIATE(float)
GRADCOMP_INSTANTIATE(double)
#undef GRADCOMP_INSTANTIATE

}  // namespace gradcomp::nn
