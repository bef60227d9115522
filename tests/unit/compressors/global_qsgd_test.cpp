// global_qsgd: unbiased with the analytic variance of the mean, sums of codes, and the overflow of sums for every
// number of ranks.
#include "unit/compressors/quantiser_rig.hpp"

namespace gradcomp::quantisers {
namespace global_qsgd_test {

double shared_norm(const std::vector<Floats>& x, const std::string& norm) {
  double most = 0;
  for (const auto& own : x) most = std::max(most, norm == "max" ? largest_of(own) : norm_of(own));
  return most;
}

const std::map<int, int> max_of{{4, 7}, {8, 127}, {16, 32767}};  // by bits

/// Level of element i of the first segment of the message, by the definition of the fields as balanced digits.
int level_of(const Message& message, int bits, std::size_t i) {
  if (bits == 8) return static_cast<const std::int8_t*>(message.data)[i];
  const int fields = 32 / bits;
  const auto row = static_cast<std::size_t>(32 * fields);
  std::int64_t word = static_cast<const std::int32_t*>(message.data)[i / row * 32 + i % 32];
  const std::int64_t base = std::int64_t{1} << bits;
  for (auto f = static_cast<int>(i % row / 32);; --f) {
    std::int64_t digit = ((word % base) + base) % base;
    if (digit >= base / 2) digit -= base;
    if (f == 0) return static_cast<int>(digit);
    word = (word - digit) / base;
  }
}

TEST(GlobalQsgd, IsUnbiasedWithTheAnalyticVariance) {
  for (const auto& [ranks, norm, bits] : {std::tuple{1, "max", 8}, std::tuple{2, "l2", 8}, std::tuple{5, "max", 8},
                                          std::tuple{1, "max", 4}, std::tuple{3, "max", 4}, std::tuple{2, "max", 16}}) {
    std::vector<Floats> x;
    for (int r = 0; r < ranks; ++r)
      x.push_back(normal_values(300, 30u + static_cast<unsigned>(r), 1.0f / static_cast<float>(r + 1)));
    const double step = shared_norm(x, norm) / (max_of.at(bits) / ranks);
    Rig rig("global_qsgd", {{"norm", norm}, {"bits", std::to_string(bits)}}, Layout::flat(300), ranks);
    expect_moments(
        rig, x,
        [&](std::size_t i) {
          Expected e{0, 0, 1};
          for (const auto& own : x) {
            const double l = std::abs(static_cast<double>(own[i])) / step * (1 - 1e-9), f = l - std::floor(l);
            e.mean += static_cast<double>(own[i]) / ranks;
            e.variance += step * step * f * (1 - f) / (ranks * ranks);
            e.rare = std::min(e.rare, ranks > 1 ? std::max(std::min(f, 1 - f), 0.02) : std::min(f, 1 - f));
          }
          return e;
        },
        250);
    EXPECT_FALSE(rig.wrapped);
  }
}

// All ranks have +M. Scaling to 127 / W and rounding up would wrap to -128.
TEST(GlobalQsgd, NoSumWrapsForAnyNumberOfRanks) {
  std::vector<int> worlds{1, 100, 127};
  for (int ranks = 2; ranks <= 64; ++ranks) worlds.push_back(ranks);
  for (const int ranks : worlds) {
    for (const float sign : {1.0f, -1.0f}) {
      Rig rig("global_qsgd", {}, Layout::flat(40), ranks);
      std::vector<Floats> x(static_cast<std::size_t>(ranks), Floats(40, sign * 0.7f));
      for (std::size_t i = 0; i < 40; i += 2) x[0][i] *= 0.3f;
      const Floats d = rig.step(x);
      ASSERT_LE(rig.widest, 127) << ranks;
      ASSERT_EQ(rig.widest, ranks * (127 / ranks));
      ASSERT_NEAR(d[1], sign * 0.7f, 1e-6) << ranks;
      ASSERT_GT(d[0] * sign, 0) << ranks;
    }
  }
  Rig rig("global_qsgd", {}, Layout::flat(9), 128);
  EXPECT_THROW(rig.step(std::vector<Floats>(128, Floats(9, 1))), Error);
}

// Every field has its largest sum, next to fields with their smallest sum.
TEST(GlobalQsgd, NoFieldCarriesForAnyNumberOfRanks) {
  for (const int bits : {4, 16}) {
    for (int ranks = 1; ranks <= 64; ++ranks) {
      SCOPED_TRACE(testing::Message() << bits << " bits, ranks " << ranks);
      Rig rig("global_qsgd", {{"bits", std::to_string(bits)}}, Layout::flat(1500), ranks);
      std::vector<Floats> x(static_cast<std::size_t>(ranks), Floats(1500, 0.7f));
      for (auto& own : x) {
        for (std::size_t i = 0; i < own.size(); ++i) {
          const std::size_t field = i / 32;  // all +, all -, neighbours with opposite signs, neighbours that are zero
          const int kind = static_cast<int>(i % 5);
          own[i] *= kind == 0   ? 1.0f
                    : kind == 1 ? -1.0f
                    : kind == 2 ? (field % 2 == 0 ? 1.0f : -1.0f)
                    : kind == 3 ? (field % 2 == 0 ? 0.0f : -1.0f)
                                : (field % 3 == 0 ? 1.0f : 0.0f);
        }
      }
      if (bits == 4 && ranks > 7) {
        EXPECT_THROW(rig.step(x), Error);
        continue;
      }
      const Floats d = rig.step(x);
      ASSERT_FALSE(rig.wrapped);
      for (std::size_t i = 0; i < d.size(); ++i) ASSERT_NEAR(d[i], x[0][i], 1e-6) << i;
    }
  }
  try {
    Rig("global_qsgd", {{"bits", "4"}}, Layout::flat(3), 8).step(std::vector<Floats>(8, Floats(3, 1)));
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "global_qsgd: sums of 4 bits hold the levels of at most 7 ranks, but there are 8");
  }
}

TEST(GlobalQsgd, FieldsOfMixedLayoutsAndSizes) {
  for (const char* bits : {"4", "16"}) {
    const double levels = max_of.at(std::stoi(bits));
    for (const char* bucket : {"tensor", "256"}) {
      expect_sizes("global_qsgd", {{"bits", bits}, {"group", bucket}}, largest_of,
                   [&](double most, double) { return most / levels * 1.0001; });
      expect_telescoping("global_qsgd", {{"bits", bits}, {"group", bucket}}, 3);
    }
    expect_extremes("global_qsgd", {{"bits", bits}}, 1.000002);
  }
}

// The same with random values, in any order of the additions (Rig checks every partial sum).
TEST(GlobalQsgd, RandomSumsStayInRange) {
  for (const int ranks : {2, 3, 4, 7, 8, 16, 32, 64}) {
    Rig rig("global_qsgd", {{"group", "256"}}, Layout::flat(3000), ranks);
    std::vector<Floats> x;
    for (int r = 0; r < ranks; ++r) x.push_back(normal_values(3000, static_cast<unsigned>(r)));
    for (int step = 0; step < 3; ++step) rig.step(x, step);
    EXPECT_LE(rig.widest, 127) << ranks;
  }
}

TEST(GlobalQsgd, SumsOfCodesAreSumsOfValues) {
  std::vector<Floats> x;
  for (unsigned r = 0; r < 4; ++r) x.push_back(normal_values(500, r));
  for (const int bits : {4, 8, 16}) {
    Rig rig("global_qsgd", {{"bits", std::to_string(bits)}}, Layout::flat(500), 4);
    const Floats d = rig.step(x, 3);
    const int levels = max_of.at(bits) / 4;
    const double step = shared_norm(x, "max") / levels;
    for (std::size_t i = 0; i < d.size(); ++i) {
      double sum = 0;
      for (std::size_t r = 0; r < 4; ++r) {
        const int level = level_of(rig.messages[r], bits, i);
        ASSERT_LE(std::abs(level * step - x[r][i]), step * 1.01);
        ASSERT_LE(std::abs(level), levels);
        sum += level * step;
      }
      ASSERT_NEAR(d[i], sum / 4, 1e-6 * step * levels) << bits << " bits, element " << i;
    }
  }
}

TEST(GlobalQsgd, SizesAndBytes) {
  for (const char* bucket : {"tensor", "512"}) {
    expect_sizes("global_qsgd", {{"group", bucket}}, largest_of,
                 [](double most, double) { return most / 127 * 1.0001; });
  }
  const auto bytes = [](const char* bucket, index_t n) {
    return Rig("global_qsgd", {{"group", bucket}}, Layout::flat(1)).method->payload_bytes(Layout::flat(n), 0);
  };
  EXPECT_EQ(bytes("tensor", 1001), 1001 + 4);  // n b / 8 + 4
  EXPECT_EQ(bytes("512", 1025), 1025 + 12);
  const auto packed = [](const char* bits, index_t n) {
    return Rig("global_qsgd", {{"bits", bits}}, Layout::flat(1)).method->payload_bytes(Layout::flat(n), 0);
  };
  EXPECT_EQ(packed("4", 2560), 2560 / 2 + 20);
  EXPECT_EQ(packed("4", 257), 256 + 4);
  EXPECT_EQ(packed("16", 6400), 2 * 6400 + 52);
  EXPECT_EQ(packed("16", 1), 128 + 4);
  EXPECT_EQ(packed("4", 0), 0);
}

TEST(GlobalQsgd, ScalesUnderAResidual) {
  const int ranks = 4;
  Rig rig("global_qsgd", {}, Layout::flat(512), ranks);
  for (auto& memory : rig.memories) memory.assign(512, 0);
  const Floats d = rig.step(std::vector<Floats>(ranks, Floats(512, 0.5f)));
  const double w = ranks * 512 / (4.0 * 31 * 31);
  EXPECT_NEAR(d[0], 0.5 / (1 + w), 1e-6);
  EXPECT_NEAR(rig.memories[2][9], 0.5 - 0.5 / (1 + w), 1e-6);
  expect_telescoping("global_qsgd", {}, 3);
  Rig refused("global_qsgd", {{"scale", "none"}, {"group", "tensor"}}, Layout::flat(100000), 2);
  for (auto& memory : refused.memories) memory.assign(100000, 0);
  EXPECT_THROW(refused.step(std::vector<Floats>(2, Floats(100000, 1))), Error);
}

TEST(GlobalQsgd, ZerosAndExtremes) {
  for (const char* norm : {"max", "l2"})
    expect_extremes("global_qsgd", {{"norm", norm}}, norm[0] == 'm' ? 1.000002 : 30);
}

}  // namespace global_qsgd_test
}  // namespace gradcomp::quantisers
