#include "gradcomp/compressors/composition/hybrid.hpp"

#include "gradcomp/coders/index_coding.hpp"
#include "unit/compressors/composition_rig.hpp"

namespace gradcomp::compositions {
namespace hybrid_test {

std::vector<Method> coders() {
  return {make("qsgd"),
          make("qsgd", {{"bits", "2"}}),
          make("linear_dithering", {{"bits", "3"}}),
          make("natural_dithering"),
          make("natural"),
          make("max_min", {{"bits", "2"}}),
          make("terngrad", {{"code", "2bit"}}),
          make("int8_block"),
          make("fp8_e4m3"),
          make("ef_sign")};
}

double squares(const Floats& x) { return std::pow(quantisers::norm_of(x), 2); }

/// The indices in a payload with index=u32.
std::vector<std::uint32_t> indices_of(const Rig& rig) {
  std::vector<std::uint32_t> indices(rig.header().kept);
  std::memcpy(indices.data(), rig.payload().data() + payload_header_bytes, 4 * indices.size());
  return indices;
}

TEST(Hybrid, WhatIsDecodedAndWhatStaysIsTheGradient) {
  for (const Method& coder : coders()) {
    SCOPED_TRACE(coder->info().name);
    Rig rig(hybrid(make("top_k", {{"ratio", "0.1"}}), coder), three_tensors(), true);
    for (int step = 0; step < 4; ++step) {
      const Floats g = normal_values(rig.layout.count(), static_cast<unsigned>(step));
      Floats a = rig.memory;
      for (std::size_t i = 0; i < a.size(); ++i) a[i] += g[i];
      const Floats d = rig.step(g, step);
      for (std::size_t i = 0; i < a.size(); ++i) ASSERT_EQ(rig.memory[i], a[i] - d[i]) << "step " << step << " " << i;
      std::vector<char> chosen(a.size(), 0);
      for (const std::uint32_t i : indices_of(rig)) chosen[i] = 1;
      for (std::size_t i = 0; i < a.size(); ++i) {
        ASSERT_TRUE(chosen[i] || d[i] == 0) << i;
      }
    }
  }
}

TEST(Hybrid, ChoosesWhatTheSparsifierChooses) {
  Rig plain(make("top_k", {{"ratio", "0.05"}}), three_tensors(), false);
  Rig rig(hybrid(make("top_k", {{"ratio", "0.05"}}), make("qsgd")), three_tensors(), false);
  const Floats g = normal_values(rig.layout.count(), 3);
  plain.step(g);
  rig.step(g);
  EXPECT_EQ(rig.header().kept, plain.header().kept);
  EXPECT_EQ(rig.state->kept, plain.state->kept);
  EXPECT_EQ(indices_of(rig), indices_of(plain));
}

TEST(Hybrid, BytesAreThoseOfTheIndicesAScaleAndTheCoder) {
  for (const Method& coder : coders()) {
    for (const char* index : {"u32", "packed", "bitmap", "elias_fano"}) {
      SCOPED_TRACE(coder->info().name + " " + index);
      Rig rig(hybrid(make("top_k", {{"ratio", "0.03"}, {"index", index}}), coder), three_tensors(), true);
      rig.step(normal_values(rig.layout.count(), 3));
      const index_t n = rig.layout.count(), k = 60 + 1 + 122;
      const coders::IndexCoderEntry* const coding = coders::index_choice(index).coder;
      EXPECT_EQ(rig.message.size, payload_header_bytes + coders::index_bytes(*coding, n, k) + 4 +
                                      coder->payload_bytes(Layout::flat(k), k));
      EXPECT_EQ(rig.message.size, payload_header_bytes + rig.method->payload_bytes(rig.layout, k));
      EXPECT_EQ(rig.message.size, rig.method->payload_capacity(rig.layout)) << "top_k always keeps k";
    }
  }
}

// |a - C(a)|^2 <= |a|^2 always. With an unbiased coder of excess w, its mean is at most 1 - (k / n) / (1 + w) of |a|^2.
TEST(Hybrid, ContractsWithAMemory) {
  struct Case {
    Method coder;
    double excess;  ///< w for k = 500 values, from the papers
  };
  const double k = 500, root = std::sqrt(k);
  const std::vector<Case> cases = {
      {make("qsgd", {{"levels", "7"}}), std::min(k / 49, root / 7)},
      {make("qsgd", {{"levels", "1"}}), root},  // alone it is far from a contraction
      {make("linear_dithering", {{"levels", "3"}, {"norm", "l2"}}), std::min(k / 9, root / 3)},
      {make("natural"), 0.125},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.coder->info().name);
    double left = 0, all = 0;
    for (int trial = 0; trial < 50; ++trial) {
      Rig rig(hybrid(make("top_k", {{"ratio", "0.1"}}), c.coder), Layout::flat(5000), true);
      const Floats g = normal_values(5000, static_cast<unsigned>(trial));
      rig.step(g, trial);
      ASSERT_LE(squares(rig.memory), squares(g) * (1 + 1e-6));
      left += squares(rig.memory);
      all += squares(g);
    }
    EXPECT_LE(left, (1 - k / 5000 / (1 + c.excess)) * all);
  }
}

TEST(Hybrid, IsUnbiasedOnTheChosenEntriesWithoutAMemory) {
  Rig rig(hybrid(make("top_k", {{"ratio", "0.5"}}), make("qsgd", {{"levels", "3"}})), Layout::flat(400), false);
  const Floats g = normal_values(400, 5);
  rig.step(g);
  const auto indices = indices_of(rig);
  double norm = 0;
  for (const std::uint32_t i : indices) norm += static_cast<double>(g[i]) * g[i];
  norm = std::sqrt(norm);
  std::vector<double> sum(400, 0);
  constexpr int trials = 2048;
  for (int t = 0; t < trials; ++t) {
    const Floats d = rig.step(g, t);
    ASSERT_EQ(indices_of(rig), indices);
    for (std::size_t i = 0; i < d.size(); ++i) sum[i] += d[i];
  }
  double chi = 0;
  for (const std::uint32_t i : indices) {
    const double x = std::fabs(static_cast<double>(g[i])) * 3 / norm, f = x - std::floor(x);
    const double variance = norm * norm / 9 * f * (1 - f);
    const double z = (sum[i] / trials - g[i]) / std::sqrt(variance / trials);
    ASSERT_LT(std::fabs(z), 6) << i;
    chi += z * z;
  }
  const auto count = static_cast<double>(indices.size());
  EXPECT_LT(std::fabs(chi - count), 6 * std::sqrt(2 * count));
}

// u = m u + g; a = v + u; v = a - decoded, and u = 0 at every chosen entry, even if the coder sends zero for it.
TEST(Hybrid, MomentumCorrectionKeepsWhatTheCoderDidNotSay) {
  Rig rig(hybrid(make("top_k", {{"ratio", "0.1"}}), make("qsgd", {{"levels", "1"}})), Layout::flat(2000), true);
  Floats velocity(2000, 0), u(2000, 0), v(2000, 0);
  int lost = 0;
  for (int step = 0; step < 4; ++step) {
    const Floats g = normal_values(2000, static_cast<unsigned>(step));
    Source source = rig.source(g);
    source.kind = Source::Kind::momentum_correction;
    source.velocity = velocity.data();
    source.momentum = 0.9f;
    source.masking = true;
    const Floats d = rig.step(source, step);
    for (std::size_t i = 0; i < u.size(); ++i) {
      u[i] = 0.9f * u[i] + g[i];
      v[i] = v[i] + u[i] - d[i];
    }
    for (const std::uint32_t i : indices_of(rig)) {
      u[i] = 0;
      lost += d[i] == 0 ? 1 : 0;
    }
    EXPECT_EQ(velocity, u) << step;
    for (std::size_t i = 0; i < v.size(); ++i) ASSERT_NEAR(rig.memory[i], v[i], 1e-6) << step << " " << i;
  }
  EXPECT_GT(lost, 100);
}

TEST(Hybrid, KeptMayChangeFromStepToStep) {
  const Method method = hybrid(make("hard_threshold", {{"lambda", "1"}}), make("qsgd", {{"group", "64"}}));
  Rig rig(method, Layout::flat(9000), true);
  for (const float size : {1.0f, 0.0f, 0.3f, 2.0f, 1e-3f, 5.0f}) {
    const Floats g = normal_values(9000, 4, size);
    Floats a = rig.memory;
    for (std::size_t i = 0; i < a.size(); ++i) a[i] += g[i];
    const Floats d = rig.step(g);
    const auto kept = static_cast<index_t>(rig.header().kept);
    EXPECT_EQ(rig.message.size, payload_header_bytes + method->payload_bytes(rig.layout, kept));
    for (std::size_t i = 0; i < a.size(); ++i) ASSERT_EQ(rig.memory[i], a[i] - d[i]) << size << " " << i;
  }
}

TEST(Hybrid, PayloadsThatLieAreRefused) {
  Rig rig(hybrid(make("top_k", {{"ratio", "0.1"}}), make("qsgd")), Layout::flat(3000), false);
  const Floats d = rig.step(normal_values(3000, 1));
  const Bytes good = rig.payload();
  const auto refused = [&](const std::function<void(Bytes&)>& spoil) {
    Bytes bad = good;
    spoil(bad);
    try {
      rig.decode(bad);
      return false;
    } catch (const Error&) {
      return true;
    }
  };
  const std::size_t scale = payload_header_bytes + 4 * 300;
  for (const float value : {-0.5f, 1.5f, std::nanf(""), std::numeric_limits<float>::infinity()})
    EXPECT_TRUE(refused([&](Bytes& b) { std::memcpy(b.data() + scale, &value, 4); })) << value;
  const std::uint32_t index = 3000;
  EXPECT_TRUE(refused([&](Bytes& b) { std::memcpy(b.data() + scale - 4, &index, 4); }));
  const float norm = -1;
  EXPECT_TRUE(refused([&](Bytes& b) { std::memcpy(b.data() + scale + 4, &norm, 4); }));
  for (const std::uint64_t kept : {std::uint64_t{0}, std::uint64_t{299}, std::uint64_t{301}, ~std::uint64_t{0}})
    EXPECT_TRUE(refused([&](Bytes& b) { std::memcpy(b.data() + 16, &kept, 8); })) << kept;
  Rig other(hybrid(make("top_k", {{"ratio", "0.1"}}), make("qsgd", {{"norm", "max"}})), Layout::flat(3000), false);
  other.step(normal_values(3000, 1));
  EXPECT_THROW(rig.decode(other.payload()), Error) << "the coder's options differ";
  EXPECT_EQ(rig.decode(good), d);
}

TEST(Hybrid, PartsThatCannotServeAreRefused) {
  for (const char* name : {"random_k", "strom", "dryden", "block_top_k", "qsgd", "fp32"})
    EXPECT_THROW(hybrid(make(name), make("qsgd")), Error) << name;
  for (const char* name : {"fp16", "one_bit", "sign", "terngrad", "powersgd", "top_k", "global_qsgd"})
    EXPECT_THROW(hybrid(make("top_k"), make(name)), Error) << name;
  EXPECT_THROW(hybrid(make("top_k", {{"values", "f16"}}), make("qsgd")), Error);
  EXPECT_THROW(hybrid(huffman(make("top_k")), make("qsgd")), Error);
  EXPECT_THROW(hybrid(hybrid(make("top_k"), make("qsgd")), make("qsgd")), Error);
}

}  // namespace hybrid_test
}  // namespace gradcomp::compositions
