#include "gradcomp/kernels/select/top_k.hpp"

#include <gtest/gtest.h>

#include "copies.hpp"
#include "unit/sparse_inputs.hpp"

namespace gradcomp::kernels {
namespace top_k_test {

using namespace sparse_test;
using test::to_device;
using test::to_host;

struct Entries {
  std::vector<std::uint32_t> indices;
  std::vector<float> values;
  std::vector<float> memory;  ///< the residual afterwards
  std::vector<Chosen> chosen;
};

/// One selection from x, which is the residual at first; the gradient is zero.
Entries select(const Layout& layout, const std::vector<float>& x, const std::vector<Selection>& selections,
               double density) {
  const Exec exec;
  const Tiles tiles(layout);
  const Vector<float> gradient("gradient", x.size()), memory = to_device(x);
  const Source source{Source::Kind::residual, layout.count(), gradient.data(), memory.data(), 1, 1};
  FirstPass first(tiles, Statistics::largest);
  first.run(exec, tiles, source);
  Selector selector(tiles, density);
  selector.choose(exec, tiles, source, first, selections);
  const auto kept = static_cast<std::size_t>(selector.kept());
  const Vector<std::uint32_t> indices("indices", kept);
  const Vector<float> values("values", kept);
  selector.emit(exec, tiles, source, indices.data(), values.data());
  exec.fence();
  Entries result{to_host(indices), to_host(values), to_host(memory), std::vector<Chosen>(selections.size())};
  for (std::size_t s = 0; s < selections.size(); ++s) result.chosen[s] = selector.chosen()(s);
  return result;
}

/// Checks that the values are those of x, and that the memory keeps the rest, bit for bit.
void expect_conservation(const std::vector<float>& x, const Entries& entries) {
  std::vector<float> rest(x);
  for (float& r : rest) r += 0.0f;  // adding a gradient of zero turns -0 into 0
  for (std::size_t j = 0; j < entries.indices.size(); ++j) {
    ASSERT_TRUE(same_bits(entries.values[j], rest[entries.indices[j]]));
    rest[entries.indices[j]] = 0;
  }
  ASSERT_EQ(first_difference(entries.memory, rest), -1);
}

void expect_exact(const Layout& layout, const std::vector<float>& x, double ratio, double density) {
  std::vector<Selection> selections;
  std::vector<std::uint32_t> expected;
  for (const auto& segment : layout.segments) {
    const auto k = static_cast<index_t>(std::ceil(ratio * static_cast<double>(segment.count)));
    selections.push_back({k, true, 0, 0});
    const auto part = top_k_indices(x, segment.offset, segment.count, k);
    expected.insert(expected.end(), part.begin(), part.end());
  }
  const auto entries = select(layout, x, selections, density);
  ASSERT_EQ(entries.indices, expected);
  expect_conservation(x, entries);
}

TEST(TopK, MatchesSortingOnEveryInputSizeAndDensity) {
  for (const index_t n : {0, 1, 2, 31, 1001, 4096, 50000}) {
    for (const auto& name : input_names()) {
      const Layout layout = mixed_layout(n);
      const auto x = make_input(name, layout.count());
      for (const double ratio : {0.001, 0.01, 0.1, 0.5, 1.0}) {
        SCOPED_TRACE(name + " n=" + std::to_string(n) + " ratio=" + std::to_string(ratio));
        expect_exact(layout, x, ratio, ratio);
      }
    }
  }
}

TEST(TopK, LargeSegments) {
  for (const auto& name : input_names()) {
    const Layout layout = Layout::flat(1200007);
    const auto x = make_input(name, layout.count());
    for (const double ratio : {0.001, 0.01, 0.1}) {
      SCOPED_TRACE(name + " ratio=" + std::to_string(ratio));
      expect_exact(layout, x, ratio, ratio);
    }
  }
}

TEST(TopK, WorkSpaceSizedForAnotherDensityChangesNothing) {
  const Layout layout = Layout::flat(200000);
  const auto x = make_input("laplace", layout.count());
  expect_exact(layout, x, 0.3, 0.0);  // every tile dense
  expect_exact(layout, x, 0.001, 1.0);
}

TEST(TopK, BoundAboveTheKthValueIsRepaired) {
  // Only the elements that the sample takes are large, so that its bound is far above the true k-th magnitude.
  const index_t tiles = 300, n = tiles * tile_size;
  auto x = make_input("gauss", n);
  for (index_t t = 0; t < tiles; ++t)
    for (index_t l = 0; l < 32; ++l)
      x[static_cast<std::size_t>(t * tile_size + sample_row(t, tile_size).first + l)] *= 1000;
  expect_exact(Layout::flat(n), x, 0.02, 0.02);
}

TEST(TopK, LaterStepsCollectWhileTheyReadAndChooseTheSame) {
  const Exec exec;
  const Layout layout = mixed_layout(50000);
  const Tiles tiles(layout);
  const Vector<float> gradient("gradient", static_cast<std::size_t>(layout.count()));
  const Source source{Source::Kind::none, layout.count(), gradient.data()};
  for (const double ratio : {0.001, 0.01, 0.3}) {
    FirstPass first(tiles, Statistics::largest);
    Selector selector(tiles, ratio);
    std::vector<Selection> selections;
    for (const auto& segment : layout.segments)
      selections.push_back({static_cast<index_t>(std::ceil(ratio * static_cast<double>(segment.count))), true, 0, 0});
    int step = 0;
    for (const float scale : {1.0f, 1.0f, 0.95f, 0.1f, 0.1f, 20.0f, 1.0f, 1.0f}) {
      SCOPED_TRACE("ratio " + std::to_string(ratio) + " step " + std::to_string(step));
      auto x = make_input("laplace", layout.count(), 7);
      for (float& v : x) v *= scale;
      to_device(x, gradient);
      first.run(exec, tiles, source, selector.expect(source));
      const std::size_t large = 2;
      const index_t collected = first.moments()[large].candidates;
      if (step == 0) {
        EXPECT_EQ(collected, 0);
      }
      if (step == 1 && ratio < 0.1) {
        EXPECT_GE(collected, selections[large].k);
        EXPECT_LE(collected, 4 * selections[large].k);
      }
      selector.choose(exec, tiles, source, first, selections);
      std::vector<std::uint32_t> expected;
      for (std::size_t s = 0; s < selections.size(); ++s) {
        const auto part = top_k_indices(x, layout.segments[s].offset, layout.segments[s].count, selections[s].k);
        expected.insert(expected.end(), part.begin(), part.end());
      }
      ASSERT_EQ(selector.kept(), static_cast<index_t>(expected.size()));
      const Vector<std::uint32_t> indices("indices", expected.size());
      const Vector<float> values("values", expected.size());
      selector.emit(exec, tiles, source, indices.data(), values.data());
      ASSERT_EQ(to_host(indices), expected);
      ++step;
    }
  }
}

/// Counts launches of kernels of this project during its lifetime.
struct Launches {
  static inline int count = 0;
  Launches() {
    Kokkos::Tools::Experimental::set_begin_parallel_for_callback([](const char* name, std::uint32_t, std::uint64_t*) {
      if (std::string(name).starts_with("gradcomp::")) ++count;
    });
  }
  ~Launches() { Kokkos::Tools::Experimental::set_begin_parallel_for_callback(nullptr); }
};

/// Elements that a launch over the candidates reads.
index_t visits(const Exec& exec, const Tiles& tiles, const Runs& runs) {
  index_t sum = 0;
  Kokkos::parallel_reduce(
      "visits", IndexRange(exec, 0, tiles.count()), KOKKOS_LAMBDA(index_t t, index_t & part) { part += runs(t).count; },
      sum);
  return sum;
}

// A bound that is too low for this step must not make every launch read all elements.
TEST(TopK, ReadsOnlyCandidatesWhenTheScaleRises) {
  const Exec exec;
  const Layout layout = Layout::flat(300000);
  const Tiles tiles(layout);
  const Vector<float> gradient("gradient", static_cast<std::size_t>(layout.count()));
  const Source source{Source::Kind::none, layout.count(), gradient.data()};
  const index_t k = 3000;
  for (const float rise : {1.2f, 1.4f, 1.6f, 3.0f, 10.0f}) {
    SCOPED_TRACE("rise " + std::to_string(rise));
    FirstPass first(tiles, Statistics::largest);
    Selector selector(tiles, 0.01);
    const Launches launches;
    std::vector<int> launched;
    for (const float scale : {1.0f, 1.0f, 1.0f, rise, rise}) {
      auto x = make_input("laplace", layout.count(), 7);
      for (float& v : x) v *= scale;
      to_device(x, gradient);
      Launches::count = 0;
      first.launch(exec, tiles, source, selector.expect(source));
      selector.choose(exec, tiles, source, first, {{k, true, 0, 0}});
      launched.push_back(Launches::count);
      ASSERT_EQ(selector.kept(), k);
      EXPECT_LE(visits(exec, tiles, selector.shortlist(tiles, first).runs), 3 * k + 64 * tiles.count());
    }
    EXPECT_LE(launched[3], launched[0]) << "no worse than the first step";
    EXPECT_LE(launched[4], launched[2]);
  }
}

TEST(TopK, KeepsTheLargestOfThree) {  // a published code cuts by index order and returns 3, 4
  const auto entries = select(Layout::flat(3), {3, 4, 5}, {{2, true, 0, 0}}, 1);
  EXPECT_EQ(entries.indices, (std::vector<std::uint32_t>{1, 2}));
  EXPECT_EQ(entries.values, (std::vector<float>{4, 5}));
}

TEST(Threshold, KeepsAllAboveItPerSegment) {
  const Layout layout = mixed_layout(100000);
  for (const auto& name : input_names()) {
    SCOPED_TRACE(name);
    const auto x = make_input(name, layout.count());
    std::vector<Selection> selections;
    std::vector<std::uint32_t> expected;
    float threshold = 0.1f;
    for (const auto& segment : layout.segments) {
      selections.push_back({segment.count / 100, false, bits_of(threshold), segment.count});
      for (index_t i = segment.offset; i < segment.offset + segment.count; ++i)
        if (std::fabs(x[static_cast<std::size_t>(i)]) > threshold) expected.push_back(static_cast<std::uint32_t>(i));
      if (segment.count < 100) {  // with k = 0 nothing is sent, even if elements are above the threshold
        while (!expected.empty() && expected.back() >= segment.offset) expected.pop_back();
      }
      threshold *= 2;
    }
    const auto entries = select(layout, x, selections, 0.01);
    ASSERT_EQ(entries.indices, expected);
    expect_conservation(x, entries);
  }
}

TEST(Threshold, PastTheCapacityTheLargestKRemain) {
  Layout layout;
  layout.add("over", {60000}).add("within", {60000});
  const auto x = make_input("levels", layout.count());  // magnitudes are 0 .. 4, so that the k-th is a tie
  const auto above = [&](index_t first) {
    return std::count_if(x.begin() + first, x.begin() + first + 60000, [](float v) { return std::fabs(v) > 3.5f; });
  };
  const auto entries = select(layout, x, {{500, false, bits_of(2.5f), 1000}, {500, false, bits_of(3.5f), 60000}}, 0.01);
  EXPECT_EQ(entries.chosen[0].kept, 500);
  EXPECT_GT(entries.chosen[0].above, 20000);
  EXPECT_EQ(entries.chosen[1].kept, above(60000));
  auto expected = top_k_indices(x, 0, 60000, 500);
  for (std::uint32_t i = 60000; i < 120000; ++i)
    if (std::fabs(x[i]) > 3.5f) expected.push_back(i);
  EXPECT_EQ(entries.indices, expected);
  expect_conservation(x, entries);
}

TEST(Threshold, AnotherSegmentsSecondRoundLeavesExactOnesAlone) {
  Layout layout;
  layout.add("over", {1152});
  std::vector<Selection> selections{{11, false, 0, 22}};
  for (const index_t n : {16, 400, 5000, 40000, 387}) {
    layout.add("exact", {n});
    selections.push_back({std::max<index_t>(1, n / 100), true, 0, 0});
  }
  for (std::uint32_t seed = 0; seed < 20; ++seed) {
    for (const auto& name : {"laplace", "levels", "constant", "denormal"}) {
      const auto x = make_input(name, layout.count(), seed);
      std::vector<std::uint32_t> expected;
      for (std::size_t s = 0; s < selections.size(); ++s) {
        const auto& segment = layout.segments[s];
        const auto part = top_k_indices(x, segment.offset, segment.count, selections[s].k);
        expected.insert(expected.end(), part.begin(), part.end());
      }
      const auto entries = select(layout, x, selections, 0.01);
      ASSERT_EQ(entries.indices, expected) << name << " seed " << seed;
    }
  }
}

TEST(Threshold, BelowTheLeastTheLargestKRemain) {
  Layout layout;
  layout.add("under", {60000}).add("enough", {60000});
  const auto x = make_input("gauss", layout.count());
  Selection starved{500, false, bits_of(3.5f), 1000};
  starved.min_entries = 250;
  Selection fine = starved;
  fine.threshold = bits_of(2.6f);
  const auto entries = select(layout, x, {starved, fine}, 0.01);
  EXPECT_LT(entries.chosen[0].above, 250);
  EXPECT_EQ(entries.chosen[0].kept, 500);
  EXPECT_EQ(entries.chosen[1].kept, entries.chosen[1].above);
  const auto expected = top_k_indices(x, 0, 60000, 500);
  EXPECT_TRUE(std::equal(expected.begin(), expected.end(), entries.indices.begin()));
  expect_conservation(x, entries);
}

TEST(Threshold, ACutSendsTheFirstInIndexOrderAndLeavesTheRest) {
  for (const index_t n : {1, 31, 5000, 100000}) {
    const Layout layout = mixed_layout(n);
    const auto x = make_input("laplace", layout.count());
    std::vector<Selection> selections;
    std::vector<std::uint32_t> expected;
    for (const auto& segment : layout.segments) {
      const index_t k = (segment.count + 19) / 20;
      selections.push_back({k, false, bits_of(1.0f), segment.count});
      selections.back().cut = k;
      index_t left = k;
      for (index_t i = segment.offset; i < segment.offset + segment.count; ++i) {
        if (std::fabs(x[static_cast<std::size_t>(i)]) <= 1 || left == 0) continue;
        expected.push_back(static_cast<std::uint32_t>(i));
        --left;
      }
    }
    const auto entries = select(layout, x, selections, 0.05);
    ASSERT_EQ(entries.indices, expected) << n;
    expect_conservation(x, entries);
  }
}

TEST(TopK, AKnownLowerBoundChangesNothingEvenWhenItIsWrong) {
  const Layout layout = mixed_layout(50000);
  for (const auto& name : input_names()) {
    const auto x = make_input(name, layout.count());
    for (const float bound : {0.0f, 0.5f, 2.0f, 1e30f}) {
      std::vector<Selection> selections;
      std::vector<std::uint32_t> expected;
      for (const auto& segment : layout.segments) {
        selections.push_back({segment.count / 50, true, 0, 0});
        selections.back().low = bits_of(bound);
        const auto part = top_k_indices(x, segment.offset, segment.count, segment.count / 50);
        expected.insert(expected.end(), part.begin(), part.end());
      }
      const auto entries = select(layout, x, selections, 0.02);
      ASSERT_EQ(entries.indices, expected) << name << " bound " << bound;
      expect_conservation(x, entries);
    }
  }
}

}  // namespace top_k_test
}  // namespace gradcomp::kernels
