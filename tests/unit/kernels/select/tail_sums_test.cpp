#include "gradcomp/kernels/select/tail_sums.hpp"

#include <gtest/gtest.h>

#include "copies.hpp"
#include "unit/sparse_inputs.hpp"

namespace gradcomp::kernels {
namespace tail_sums_test {

using namespace sparse_test;
using test::to_device;

std::vector<Tail> tails(const Layout& layout, const std::vector<float>& x, const std::vector<float>& thresholds) {
  const Tiles tiles(layout);
  const Vector<float> a = to_device(x);
  const Exec exec;
  const TailSums sums(tiles);
  const Tails all = sums.tails();
  to_device(thresholds, all.thresholds);
  const Vector<Tail> found("found", thresholds.size());
  sums.run(
      exec, tiles, a.data(), KOKKOS_LAMBDA(const Block& block, index_t s) {
        const Tail tail = all.asked(s) ? all.sum(block, s) : Tail{};
        block.once([&] { found(s) = tail; });
      });
  return test::to_host(found);
}

TEST(TailSums, SegmentsUpToAMillionAreReadInFull) {
  const Layout layout = mixed_layout(300000);
  for (const auto& name : {"laplace", "gauss", "sparse", "zeros", "constant", "denormal"}) {
    const auto x = make_input(name, layout.count());
    std::vector<float> thresholds(layout.segments.size(), 0.2f);
    thresholds[4] = -1;  // left out
    const auto result = tails(layout, x, thresholds);
    for (std::size_t s = 0; s < layout.segments.size(); ++s) {
      SCOPED_TRACE(std::string(name) + " segment " + std::to_string(s));
      const auto& segment = layout.segments[s];
      index_t count = 0;
      double excess = 0;
      for (index_t i = segment.offset; i < segment.offset + segment.count; ++i) {
        const float over = std::fabs(x[static_cast<std::size_t>(i)]) - 0.2f;
        count += over > 0 ? 1 : 0;
        excess += over > 0 ? static_cast<double>(over) : 0;
      }
      if (s == 4) count = 0, excess = 0;
      EXPECT_EQ(result[s].seen, s == 4 ? 0 : segment.count);
      EXPECT_EQ(result[s].count, count);
      EXPECT_NEAR(result[s].excess, excess, 1e-5 * excess);
    }
  }
}

TEST(TailSums, LargerSegmentsAreSampledOverAllTiles) {
  const index_t n = 3000001;
  const auto x = make_input("laplace", n);
  const auto result = tails(Layout::flat(n), x, {2.0f})[0];
  EXPECT_GE(result.seen, index_t{1} << 19);
  EXPECT_LE(result.seen, n / 2);
  const double count = static_cast<double>(result.count), expected = static_cast<double>(result.seen) * std::exp(-2.0);
  EXPECT_NEAR(count, expected, 5 * std::sqrt(expected));
  EXPECT_NEAR(result.excess / count, 1, 5 / std::sqrt(count));  // the mean excess of an exponential tail is 1
}

}  // namespace tail_sums_test
}  // namespace gradcomp::kernels
