#include "gradcomp/compressors/detail/sparse/density.hpp"
#include "gradcomp/core/registry.hpp"
#include "unit/compressors/sparse_rig.hpp"

namespace sparse_test {
namespace block_top_k_test {

using Options_ = std::map<std::string, std::string>;

Rig rig_of(const Layout& layout, const Options_& options, bool residual = true) {
  return Rig(find_entry("block_top_k"), options, layout, residual);
}

struct Blocks {
  std::vector<std::uint32_t> numbers;
  std::vector<char> sent;  ///< [elements]
};

/// The choice of blocks as a serial loop. `a`: the accumulated gradients of all ranks.
Blocks reference(const std::vector<std::vector<float>>& a, const Layout& layout, index_t block, double ratio,
                 const std::string& score) {
  Blocks result;
  result.sent.resize(static_cast<std::size_t>(layout.count()));
  index_t first_number = 0;
  for (const auto& segment : layout.segments) {
    if (segment.count == 0) continue;
    const index_t length = std::min(block, segment.count), count = (segment.count + length - 1) / length;
    std::vector<float> scores(static_cast<std::size_t>(count));
    for (const auto& rank : a) {
      for (index_t b = 0; b < count; ++b) {
        long double sum = 0;
        for (index_t i = b * length; i < std::min((b + 1) * length, segment.count); ++i) {
          const long double x = std::fabs(rank[static_cast<std::size_t>(segment.offset + i)]);
          sum = score == "max" ? std::max(sum, x) : sum + (score == "l1" ? x : x * x);
        }
        const long double most = std::numeric_limits<float>::max() / (2.0L * static_cast<long double>(a.size()));
        scores[static_cast<std::size_t>(b)] += static_cast<float>(std::min(score == "l2" ? std::sqrt(sum) : sum, most));
      }
    }
    for (const auto b : top_k_indices(scores, 0, count,
                                      std::max<index_t>(1, static_cast<index_t>(ratio * static_cast<double>(count))))) {
      result.numbers.push_back(static_cast<std::uint32_t>(first_number) + b);
      for (index_t i = b * length; i < std::min((b + 1) * length, segment.count); ++i)
        result.sent[static_cast<std::size_t>(segment.offset + i)] = 1;
    }
    first_number += count;
  }
  return result;
}

std::vector<float> masked(const std::vector<float>& a, const std::vector<char>& sent, char wanted) {
  std::vector<float> result(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) result[i] = sent[i] == wanted ? a[i] : 0.0f;
  return result;
}

TEST(BlockTopKMethod, MatchesASerialReference) {
  for (const index_t n : {0, 1, 31, 9001}) {
    const Layout layout = mixed_layout(n);
    for (const auto& name : input_names()) {
      auto a = make_input(name, layout.count());
      for (float& v : a) v += 0.0f;
      for (const index_t block : {1, 7, 32, 256, 100000}) {
        for (const std::string score : {"l2", "l1", "max"}) {
          if (block != 256 && score != "l2") continue;
          SCOPED_TRACE(name + " n=" + std::to_string(n) + " block=" + std::to_string(block) + " " + score);
          const Options_ options = {{"block", std::to_string(block)}, {"ratio", "0.1"}, {"score", score}};
          const Blocks expected = reference({a}, layout, block, 0.1, score);
          Rig rig = rig_of(layout, options);
          const auto out = step_of({&rig}, {a})[0];
          ASSERT_EQ(first_difference(out, masked(a, expected.sent, 1)), -1);
          ASSERT_EQ(first_difference(rig.residual(), masked(a, expected.sent, 0)), -1);
          Options_ own = options;
          own["mask"] = "private";
          Rig single = rig_of(layout, own);
          single.produce(a);
          ASSERT_EQ(first_difference(single.decode(1, std::vector<float>(a.size())), out), -1);
          ASSERT_EQ(first_difference(single.residual(), rig.residual()), -1);
          ASSERT_EQ(single.message.size, payload_header_bytes + single.method->payload_bytes(layout, 0));
          std::vector<std::uint32_t> numbers(expected.numbers.size());
          const auto bytes = single.payload();
          ASSERT_GE(bytes.size(), 32 + 4 * numbers.size());
          std::memcpy(numbers.data(), bytes.data() + 32, 4 * numbers.size());
          ASSERT_EQ(numbers, expected.numbers);
        }
      }
    }
  }
}

TEST(BlockTopKMethod, BytesAreTheFormula) {
  const Layout layout =
      Layout{}.add("a", {1000}).add("bias", {10}).add("empty", {0}).add("b", {2560});  // 4, 1, 10 blocks
  EXPECT_EQ(rig_of(layout, {{"ratio", "0.5"}}).method->payload_bytes(layout, 0),
            4 * (4 + 1 + 10) + 4 * (2 * 256 + 10 + 5 * 256));
  Rig own = rig_of(layout, {{"ratio", "0.5"}, {"mask", "private"}});
  EXPECT_EQ(own.method->payload_bytes(layout, 0), 4 * (2 + 1 + 5) + 4 * (2 * 256 + 10 + 5 * 256));
  EXPECT_EQ(own.state->kept, (std::vector<index_t>{512, 10, 0, 1280}));
  EXPECT_EQ(own.method->rounds(), 1);
  EXPECT_EQ(rig_of(layout, {}).method->rounds(), 2);
}

TEST(BlockTopKMethod, AllRanksChooseTheBlocksOfTheHighestSums) {
  const Layout layout = mixed_layout(9001);
  std::vector<Rig> rigs;
  std::vector<Rig*> all;
  std::vector<std::vector<float>> g;
  for (int rank = 0; rank < 4; ++rank) {
    rigs.push_back(rig_of(layout, {{"ratio", "0.1"}, {"block", "64"}, {"score", "l1"}}));
    g.push_back(make_input("levels", layout.count(), static_cast<std::uint32_t>(rank)));  // sums of integers are exact
    for (float& v : g.back()) v += 0.0f;
  }
  for (Rig& rig : rigs) all.push_back(&rig);
  const auto outs = step_of(all, g);
  const Blocks expected = reference(g, layout, 64, 0.1, "l1");
  std::vector<float> mean(g[0].size());
  for (const auto& own : g)
    for (std::size_t i = 0; i < mean.size(); ++i) mean[i] += 0.25f * own[i];
  for (std::size_t r = 0; r < 4; ++r) {
    ASSERT_EQ(first_difference(outs[r], masked(mean, expected.sent, 1)), -1);
    ASSERT_EQ(first_difference(rigs[r].residual(), masked(g[r], expected.sent, 0)), -1);
  }
}

TEST(BlockTopKMethod, RetainsAtMostTheEnergyOfTopK) {
  const index_t n = 51200, kept = 5120;
  for (const char* name : {"laplace", "gauss", "heavy", "spikes"}) {
    const auto a = make_input(name, n);
    double best = 0;
    for (const auto i : top_k_indices(a, 0, n, kept)) best += std::pow(static_cast<double>(a[i]), 2);
    double before = best * (1 + 1e-12);
    for (const char* block : {"1", "16", "256"}) {
      Rig rig = rig_of(Layout::flat(n), {{"ratio", "0.1"}, {"block", block}});
      const double energy = squares(step_of({&rig}, {a})[0]);
      EXPECT_LE(energy, before) << name << " " << block;
      EXPECT_GE(energy, 0.1 * squares(a)) << name << " " << block;  // better than random blocks
      before = energy * (1 + 1e-12);
      if (std::string(block) == "1") {
        EXPECT_NEAR(energy, best, 1e-12 * best) << name;
      }
    }
  }
}

TEST(BlockTopKMethod, TailBlockIsChosenAndPadded) {
  std::vector<float> a(1003, 0.25f);
  for (std::size_t i = 768; i < 1003; ++i) a[i] = 2;
  for (const char* mask : {"shared", "private"}) {
    Rig rig = rig_of(Layout::flat(1003), {{"ratio", "0.25"}, {"mask", mask}});
    std::vector<float> out(1003);
    if (std::string(mask) == "shared") {
      out = step_of({&rig}, {a})[0];
      ASSERT_EQ(rig.message.count, 256);
      const auto sent = sent_values(rig);
      for (std::size_t i = 0; i < 256; ++i) ASSERT_EQ(sent[i], i < 235 ? 2.0f : 0.0f);
    } else {
      rig.produce(a);
      out = rig.decode(1, out);
    }
    for (std::size_t i = 0; i < 1003; ++i) ASSERT_EQ(out[i], i < 768 ? 0.0f : 2.0f);
  }
}

TEST(BlockTopKMethod, EveryRankSeesASumThatOverflows) {
  Rig one = rig_of(Layout::flat(512), {}), two = rig_of(Layout::flat(512), {});
  const std::vector<float> g(512, 3e38f);
  for (const auto& out : step_of({&one, &two}, {g, g})) EXPECT_TRUE(out.empty());
}

TEST(BlockTopKMethod, CorruptPayloadsAreRefused) {
  Rig rig = rig_of(Layout{}.add("a", {2560}).add("b", {2560}), {{"mask", "private"}, {"ratio", "0.3"}});  // 3 + 3 of 20
  rig.produce(make_input("gauss", 5120));
  const auto good = rig.payload();
  ASSERT_EQ(good.size(), 32 + 4 * 6 + 4 * 6 * 256u);
  expect_payload_refused(rig, with_value(good, 32 + 4 * 5, std::uint32_t{20}), "block out of range");
  expect_payload_refused(rig, with_value(good, 32 + 4 * 5, ~std::uint32_t{0}), "block far out of range");
  expect_payload_refused(rig, with_value(good, 32, std::uint32_t{19}), "not ascending");
  expect_payload_refused(rig, with_value(good, 32 + 4 * 2, std::uint32_t{10}), "a block of the next segment");
  expect_payload_refused(rig, with_value(good, 32 + 4 * 7, std::numeric_limits<float>::infinity()), "infinite value");
  expect_payload_refused(rig, with_value(good, 16, std::uint64_t{6 * 256 - 1}), "kept");
  expect_payload_refused(rig, with_value(good, 24, PayloadHeader::flag_diverged), "flag with values");
}

}  // namespace block_top_k_test
}  // namespace sparse_test
