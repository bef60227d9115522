// Many small products in one launch, and the tiles with which devices compute them.
#include <array>
#include <limits>

#include "gradcomp/nn/gemm/gemm_tile_device.hpp"
#include "unit/nn/support.hpp"

namespace gradcomp::nn {
namespace gemm_grid_test {

using test::Mirrored;
using test::random_vector;

/// Matrices like those of the heads of sequences: rows of all matrices alternate, and the other factor and the result
/// have their own distances.
template <class T>
void expect_grid(index_t rows, index_t columns, index_t depth, double tolerance) {
  constexpr index_t outer = 3, inner = 2;
  const auto a = random_vector<T>(outer * inner * rows * depth, 1),
             b = random_vector<T>(outer * inner * columns * depth, 2);
  const Mirrored<T> expected(outer * inner * rows * columns);
  const MatrixGrid<const T> left{{a.read(), rows, depth, outer * inner * depth, 1}, inner * depth, depth};
  const MatrixGrid<const T> right{Matrix<const T>::dense(b.read(), columns, depth), inner * columns * depth,
                                  columns * depth};
  const auto multiply_all = [&](const Mirrored<T>& c, Path path) {
    const MatrixGrid<T> to{Matrix<T>::dense(c.write(), rows, columns), inner * rows * columns, rows * columns};
    gemm_grid<T>(Exec(), outer, inner, left, right.transposed(), to, GemmWorkspace<T>(), path);
  };
  multiply_all(expected, Path::portable);
  for (const Path path : {Path::best, Path::device}) {
    const Mirrored<T> c(outer * inner * rows * columns);
    c.fill(std::numeric_limits<T>::quiet_NaN());
    multiply_all(c, path);
    EXPECT_LE(test::relative_difference(c, expected, outer * inner * rows * columns), tolerance)
        << rows << " x " << columns << " x " << depth << " by " << static_cast<int>(path);
  }
}

TEST(GemmGrid, IsTheProductOfEachPair) {
  for (const auto& [rows, columns, depth] :
       {std::array<index_t, 3>{1, 1, 1}, {5, 33, 16}, {32, 32, 17}, {65, 31, 40}}) {
    expect_grid<float>(rows, columns, depth, 2e-6);
    expect_grid<double>(rows, columns, depth, 1e-14);
  }
}

// On devices, threads do this side by side; here, a team has as many threads as possible.
TEST(GemmTiles, TeamsOfAnySizeGiveTheSameBits) {
  constexpr index_t rows = 70, columns = 45, depth = 50;
  const auto a = random_vector<float>(rows * depth, 1), b = random_vector<float>(depth * columns, 2);
  const auto run = [&](const Mirrored<float>& c, auto multiply_by_teams) {
    multiply_by_teams(MatrixGrid<const float>{Matrix<const float>::dense(a.read(), depth, rows).transposed()},
                      MatrixGrid<const float>{Matrix<const float>::dense(b.read(), depth, columns)},
                      MatrixGrid<float>{Matrix<float>::dense(c.write(), rows, columns)});
  };
  const Mirrored<float> reference(rows * columns), expected(rows * columns), found(rows * columns);
  run(reference,
      [](const auto&... m) { gemm_grid<float>(Exec(), 1, 1, m..., GemmWorkspace<float>(), Path::portable); });
  run(expected, [](const auto&... m) { device::multiply_tiles<float>(Exec(), 1, 1, m..., {}); });
  EXPECT_LE(test::relative_difference(expected, reference, rows * columns), 2e-6);
  if (Exec().concurrency() < 2) return;  // a team has one thread
  run(found, [](const auto&... m) { device::multiply_tiles<float, 2>(Exec(), 1, 1, m..., {}); });
  EXPECT_TRUE(test::same_bits(found, expected));
}

}  // namespace gemm_grid_test
}  // namespace gradcomp::nn
