// Matrix products of any size and stride, and the functions that LSTMs compute between such products.
#include "gradcomp/nn/gemm/gemm.hpp"

#include <limits>

#include "gradcomp/kernels/linear_algebra/blas.hpp"
#include "gradcomp/nn/exponential.hpp"
#include "gradcomp/nn/gemm/gemm_blas.hpp"
#include "gradcomp/nn/gemm/gemm_device.hpp"
#include "unit/nn/support.hpp"

namespace gradcomp::nn {
namespace gemm_test {

using test::Mirrored;
using test::random_vector;

/// A matrix of random numbers with gaps between its rows; it is stored transposed if `transposed`.
template <class T>
struct Factor {
  Factor(index_t of_rows, index_t of_columns, bool is_transposed, index_t stream)
      : rows(of_rows),
        columns(of_columns),
        transposed(is_transposed),
        storage(random_vector<T>(transposed ? columns * (rows + 3) : rows * (columns + 3), stream)) {}

  Matrix<const T> in() const { return view(storage.read()); }
  Matrix<const T> host() const { return view(storage.host().data()); }
  Matrix<const T> view(const T* data) const {
    if (transposed) return Matrix<const T>{data, columns, rows, rows + 3, 1}.transposed();
    return {data, rows, columns, columns + 3, 1};
  }

  index_t rows, columns;
  bool transposed;
  Mirrored<T> storage;
};

struct Sizes {
  index_t rows, columns, inner;
};

/// The implementation; devices use `tiles` if they have no BLAS.
enum class By { best, device, portable, tiles };

constexpr By all[] = {By::best, By::device, By::portable, By::tiles};

template <class T>
void multiply(By by, const Matrix<const T>& a, const Matrix<const T>& b, const Matrix<T>& c,
              const GemmStart<T>& start = {}) {
  const GemmWorkspace<T> workspace;
  if (by == By::tiles) return device::gemm_grid<T>(Exec(), 1, 1, {a}, {b}, {c}, start);
  const Path path = by == By::best ? Path::best : by == By::device ? Path::device : Path::portable;
  gemm<T>(Exec(), a, b, c, workspace, path, start);
}

/// Largest error in units of the rounding of T, relative to the sum of the absolute products; NaN if the gaps changed.
template <class T>
double error(const Sizes& sizes, bool transpose_a, bool transpose_b, bool add, bool with_bias, By by) {
  const Factor<T> a(sizes.rows, sizes.inner, transpose_a, 1), b(sizes.inner, sizes.columns, transpose_b, 2);
  const auto start = random_vector<T>(sizes.rows * (sizes.columns + 2), 3), bias = random_vector<T>(sizes.columns, 4);
  const Mirrored<T> c(sizes.rows * (sizes.columns + 2));
  c.assign(start);
  multiply<T>(by, a.in(), b.in(), {c.write(), sizes.rows, sizes.columns, sizes.columns + 2, 1},
              {add, with_bias ? bias.read() : nullptr});
  const Matrix<const T> left = a.host(), right = b.host();
  double worst = 0;
  for (index_t i = 0; i < sizes.rows; ++i) {
    for (index_t j = 0; j < sizes.columns + 2; ++j) {
      const index_t at = i * (sizes.columns + 2) + j;
      if (j >= sizes.columns) {  // the gap between rows must not change
        if (c(at) != start(at)) return std::numeric_limits<double>::quiet_NaN();
        continue;
      }
      double sum = add ? double(start(at)) : with_bias ? double(bias(j)) : 0, size = std::abs(sum) + 1;
      for (index_t k = 0; k < sizes.inner; ++k) {
        sum += double(left(i, k)) * right(k, j);
        size += std::abs(double(left(i, k)) * right(k, j));
      }
      worst = std::max(worst, std::abs(c(at) - sum) / size / std::numeric_limits<T>::epsilon());
    }
  }
  return worst;
}

TEST(Gemm, BlasTakesContiguousRowsOrColumns) {
  const Mirrored<float> x(4), y(4);
  const auto view = Matrix<const float>::dense(x.read(), 2, 2);
  const auto c = Matrix<float>::dense(y.write(), 2, 2);
  EXPECT_EQ(blas::gemm<float>(Exec(), view, view, c, {}), kernels::has_gemm);
  EXPECT_EQ(blas::gemm<float>(Exec(), view.transposed(), view, c, {}), kernels::has_gemm);
  const Matrix<const float> neither{x.read(), 1, 2, 4, 2};
  EXPECT_FALSE(blas::gemm<float>(Exec(), neither, view, Matrix<float>::dense(y.write(), 1, 2), {}));
}

TEST(Gemm, IsTheProduct) {
  for (const Sizes& sizes : {Sizes{1, 1, 1},
                             {3, 5, 0},
                             {7, 33, 19},
                             {8, 32, 224},
                             {23, 70, 225},
                             {101, 300, 40},
                             {200, 31, 460},
                             {1, 600, 7},
                             {0, 4, 4},
                             {4, 0, 4}}) {
    for (int kind = 0; kind < 4; ++kind) {
      for (const By by : all) {
        const bool transpose_a = kind % 2 == 1, transpose_b = kind / 2 == 1;
        const auto where = ::testing::Message() << sizes.rows << " x " << sizes.columns << " x " << sizes.inner
                                                << " kind " << kind << " by " << static_cast<int>(by);
        EXPECT_LE(error<float>(sizes, transpose_a, transpose_b, false, false, by), 20) << where;
        EXPECT_LE(error<double>(sizes, transpose_a, transpose_b, kind == 0, kind == 1, by), 40) << where;
      }
    }
  }
}

TEST(Gemm, StartsWithWhatItIsTold) {
  for (const By by : all) {
    EXPECT_LE(error<float>({30, 45, 300}, false, true, true, false, by), 20);
    EXPECT_LE(error<float>({30, 45, 300}, true, false, false, true, by), 20);
    EXPECT_LE(error<float>({30, 45, 300}, true, false, true, true, by),
              20);  // if both are given, the sum is used and not the bias
  }
}

TEST(Gemm, WithoutAddingIgnoresWhatWasThere) {
  const auto a = random_vector<float>(6, 1), b = random_vector<float>(6, 2);
  const Mirrored<float> c(4);
  for (const By by : all) {
    for (const index_t inner : {3, 0}) {
      c.fill(std::numeric_limits<float>::quiet_NaN());
      multiply<float>(by, Matrix<const float>::dense(a.read(), 2, inner),
                      Matrix<const float>::dense(b.read(), inner, 2), Matrix<float>::dense(c.write(), 2, 2));
      for (int i = 0; i < 4; ++i) EXPECT_TRUE(inner == 0 ? c(i) == 0 : std::isfinite(c(i))) << static_cast<int>(by);
    }
  }
}

TEST(Exponential, IsAccurate) {
  double worst_power = 0, worst_tanh = 0, worst_logistic = 0;
  for (int i = -870; i <= 870; ++i) {
    const float x = static_cast<float>(i) * 0.1f + 0.003f;
    worst_power = std::max(worst_power, std::abs(exponential(x) / std::exp(double(x)) - 1));
    worst_logistic = std::max(worst_logistic, std::abs(logistic(x) * (1 + std::exp(-double(x))) - 1));
  }
  for (int i = -9000; i <= 9000; ++i) {
    const float x = static_cast<float>(i) * 0.001f + 1e-6f;
    worst_tanh = std::max(worst_tanh, std::abs(hyperbolic_tangent(x) / std::tanh(double(x)) - 1));
  }
  EXPECT_LT(worst_power, 3e-7);
  EXPECT_LT(worst_logistic, 5e-7);
  EXPECT_LT(worst_tanh, 6e-7);
}

TEST(Exponential, HoldsAtTheEnds) {
  const float infinity = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(exponential(0.0f), 1.0f);
  EXPECT_LT(exponential(-infinity), 2e-38f);
  EXPECT_GE(exponential(-infinity), 0.0f);
  EXPECT_GT(exponential(infinity), 1e38f);
  EXPECT_TRUE(std::isfinite(exponential(infinity)));
  EXPECT_TRUE(std::isnan(exponential(nan)));
  EXPECT_EQ(hyperbolic_tangent(0.0f), 0.0f);
  EXPECT_EQ(hyperbolic_tangent(infinity), 1.0f);
  EXPECT_EQ(hyperbolic_tangent(-infinity), -1.0f);
  EXPECT_TRUE(std::isnan(hyperbolic_tangent(nan)));
  EXPECT_EQ(logistic(infinity), 1.0f);
  EXPECT_LT(logistic(-infinity), 1e-37f);
  EXPECT_EQ(hyperbolic_tangent(1e-30f), 1e-30f);
}

}  // namespace gemm_test
}  // namespace gradcomp::nn
