#include "gradcomp/compressors/detail/sparse/density.hpp"
#include "gradcomp/core/registry.hpp"
#include "unit/compressors/sparse_rig.hpp"

namespace sparse_test {
namespace sketch_test {

using Floats = std::vector<float>;
using Given = std::map<std::string, std::string>;

std::vector<Rig> ranks_of(int ranks, const Layout& layout, const Given& given, bool residual = true) {
  std::vector<Rig> rigs;
  for (int r = 0; r < ranks; ++r) rigs.emplace_back(find_entry("sketch"), given, layout, residual);
  return rigs;
}

std::vector<Floats> step_of(std::vector<Rig>& rigs, const std::vector<Floats>& g, std::int64_t step = 0) {
  std::vector<Rig*> all;
  for (Rig& rig : rigs) all.push_back(&rig);
  return sparse_test::step_of(all, g, step);
}

std::vector<Floats> levels(int ranks, index_t n, std::uint32_t seed) {
  std::vector<Floats> g;
  for (int r = 0; r < ranks; ++r) g.push_back(make_input("levels", n, seed + static_cast<std::uint32_t>(r)));
  return g;
}

Floats sum_of(const std::vector<Floats>& x) {
  Floats sum(x[0].size());
  for (const auto& own : x)
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += own[i];
  return sum;
}

std::vector<Floats> memories(const std::vector<Rig>& rigs) {
  std::vector<Floats> list;
  for (const Rig& rig : rigs) list.push_back(rig.residual());
  return list;
}

// If every element is a candidate, estimates do not matter: the k largest sums are chosen, and ties go to the lower
// index.
TEST(SketchMethod, TakesTheLargestExactSums) {
  for (const index_t n : {0, 1, 40, 9001}) {
    const Layout layout = mixed_layout(n);
    auto rigs = ranks_of(3, layout, {{"ratio", "0.05"}, {"candidates", "64"}});
    const auto g = levels(3, layout.count(), 4);
    const Floats sum = sum_of(g), out = step_of(rigs, g)[0];
    for (const auto& segment : layout.segments) {
      const index_t k = compressors::target_kept(0.05, segment.count);
      Floats expected(out.size());
      for (const auto i : top_k_indices(sum, segment.offset, segment.count, k)) expected[i] = sum[i];
      for (index_t i = segment.offset; i < segment.offset + segment.count; ++i) {
        const auto at = static_cast<std::size_t>(i);
        ASSERT_EQ(out[at], expected[at] * (1.0f / 3)) << segment.name << " element " << i;
      }
    }
  }
}

TEST(SketchMethod, FindsHeavyHittersThatNoRankHasAlone) {
  const index_t n = 100000;  // 100 elements are heavy: 9 standard deviations of an estimate of the sum
  auto rigs = ranks_of(4, Layout::flat(n), {{"columns", "10000"}});
  auto g = levels(4, n, 1);
  const double noise = std::sqrt(squares(sum_of(g)) / 10000) * 1.6;
  std::vector<std::uint32_t> planted;
  for (index_t h = 0; h < 100; ++h) {
    planted.push_back(static_cast<std::uint32_t>(h * 997 + 3));
    for (auto& own : g) own[planted.back()] = static_cast<float>((h % 2 == 0 ? 1 : -1) * std::ceil(9 * noise / 4));
  }
  const Floats sum = sum_of(g), out = step_of(rigs, g)[0];
  ASSERT_EQ(top_k_indices(out, 0, n, 100), planted);
  for (const auto i : planted) ASSERT_EQ(out[i], sum[i] / 4);
}

TEST(SketchMethod, ReplicasAgreeAndNothingIsLost) {
  for (const int ranks : {1, 2, 3, 4}) {
    const Layout layout = mixed_layout(30000);
    auto rigs = ranks_of(ranks, layout, {{"ratio", "0.01"}});
    Floats total(static_cast<std::size_t>(layout.count())), sent(total);
    for (int step = 0; step < 5; ++step) {
      const auto g = levels(ranks, layout.count(), 10u * static_cast<std::uint32_t>(step));
      const Floats sum = sum_of(g);
      for (std::size_t i = 0; i < sum.size(); ++i) total[i] += sum[i];
      const auto outs = step_of(rigs, g, step);
      for (const auto& out : outs) ASSERT_EQ(first_difference(out, outs[0]), -1);
      for (std::size_t i = 0; i < sum.size(); ++i) sent[i] += std::round(static_cast<float>(ranks) * outs[0][i]);
    }
    const Floats rest = sum_of(memories(rigs));
    for (std::size_t i = 0; i < rest.size(); ++i) ASSERT_EQ(sent[i] + rest[i], total[i]) << i;
  }
}

TEST(SketchMethod, BytesAndColumns) {
  const auto bytes = [](const Given& given, index_t n) {
    return Rig(find_entry("sketch"), given, Layout::flat(1), false).method->payload_bytes(Layout::flat(n), 0);
  };
  // FetchSGD has k = 50000 and 5 rows of 500000 columns.
  EXPECT_EQ(bytes({}, 50000000), 4 * (5 * 500000 + 4 * 50000));
  EXPECT_EQ(bytes({{"columns", "1001"}, {"rows", "3"}, {"candidates", "1"}}, 10000), 4 * (3 * 1024 + 10));
  EXPECT_EQ(bytes({}, 40), 4 * (5 * 64 + 4));
  EXPECT_EQ(bytes({}, 3), 4 * (5 * 32 + 3)) << "never more columns than whole blocks of elements";
  EXPECT_EQ(bytes({}, 0), 0);
}

TEST(SketchMethod, EveryRankSeesASumThatOverflows) {
  auto rigs = ranks_of(2, mixed_layout(3000), {});
  auto g = levels(2, rigs[0].layout.count(), 3);
  g[0][0] = g[1][0] = 3e38f;
  for (const auto& out : step_of(rigs, g)) EXPECT_TRUE(out.empty());
}

}  // namespace sketch_test
}  // namespace sparse_test
