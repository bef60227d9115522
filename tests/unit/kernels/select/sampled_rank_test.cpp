#include "gradcomp/kernels/select/sampled_rank.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <set>

#include "copies.hpp"
#include "gradcomp/core/error.hpp"
#include "unit/sparse_inputs.hpp"

namespace gradcomp::kernels {
namespace sampled_rank_test {

using namespace sparse_test;

std::int32_t serial(const std::vector<float>& x, index_t offset, const Sample& sample) {
  std::vector<std::int32_t> values;
  for (index_t j = 0; j < sample.count; ++j)
    values.push_back(bits_of(x[static_cast<std::size_t>(offset + sample.start + j * sample.stride)]));
  std::sort(values.begin(), values.end(), std::greater<>());
  return sample.count == 0 ? -1 : values[static_cast<std::size_t>(sample.rank - 1)];
}

/// magnitude() of the rank-th largest sample of each segment; -1 if a segment has none.
std::vector<std::int32_t> ranks_of(SampledRank& sampled, const float* a, const std::vector<Sample>& samples) {
  const Exec exec;
  sampled.run(exec, a, samples, nullptr, device_is_host);
  std::vector<std::int32_t> ranks;
  for (const SegmentSearch& search : test::to_host(sampled.searches()))
    ranks.push_back(search.rank > 0 ? search.high : -1);
  return ranks;
}

TEST(SampledRank, MatchesSortingTheSampleOfEverySegment) {
  for (const index_t n : {1, 31, 5000, 60000}) {
    const Layout layout = mixed_layout(n);
    std::vector<index_t> capacity;
    for (const auto& segment : layout.segments) capacity.push_back((segment.count + 1) / 2);
    SampledRank sampled(layout, capacity);
    for (const auto& name : input_names()) {
      const auto x = make_input(name, layout.count());
      const Vector<float> a = test::to_device(x);
      for (const index_t stride : {2, 3, 7, 97}) {
        for (const double share : {0.001, 0.1, 1.0}) {
          SCOPED_TRACE(name + " n=" + std::to_string(n) + " stride=" + std::to_string(stride));
          std::vector<Sample> samples;
          for (const auto& segment : layout.segments) {
            const index_t count = segment.count / stride;
            const index_t start = count == 0 ? 0 : random_start(stride, 5, segment.id, 0, 0);
            const auto rank = static_cast<index_t>(std::ceil(share * static_cast<double>(count)));
            samples.push_back({start, stride, count, rank});
          }
          const auto ranks = ranks_of(sampled, a.data(), samples);  // sometimes with fewer samples than before
          for (std::size_t s = 0; s < samples.size(); ++s)
            ASSERT_EQ(ranks[s], serial(x, layout.segments[s].offset, samples[s])) << "segment " << s;
        }
      }
    }
  }
}

TEST(SampledRank, RefusesSamplesThatLeaveTheSegmentOrTheRoom) {
  const Layout layout = Layout::flat(100);
  SampledRank sampled(layout, {50});
  const Vector<float> a("a", 100);
  for (const Sample& bad : {Sample{0, 1, 51, 1}, Sample{2, 2, 50, 1}, Sample{0, 1, 10, 11}, Sample{0, 1, 10, 0},
                            Sample{-1, 1, 10, 1}, Sample{0, 0, 10, 1}})
    EXPECT_THROW(ranks_of(sampled, a.data(), {bad}), Error);
  EXPECT_EQ(ranks_of(sampled, a.data(), {Sample{1, 2, 50, 50}})[0], 0);
}

TEST(SampledRank, StartsDifferBetweenStepsSegmentsAndRanksAndCoverTheRange) {
  std::set<index_t> seen;
  int equal = 0;
  for (std::int64_t step = 0; step < 2000; ++step) {
    const index_t start = random_start(97, 1, 3, step, 0);
    ASSERT_GE(start, 0);
    ASSERT_LT(start, 97);
    seen.insert(start);
    equal += start == random_start(97, 1, 4, step, 0) ? 1 : 0;
    equal += start == random_start(97, 1, 3, step, 1) ? 1 : 0;
    equal += start == random_start(97, 2, 3, step, 0) ? 1 : 0;
    ASSERT_EQ(start, random_start(97, 1, 3, step, 0));
  }
  EXPECT_EQ(seen.size(), 97u);
  EXPECT_LT(equal, 120);  // 62 by chance
}

}  // namespace sampled_rank_test
}  // namespace gradcomp::kernels
