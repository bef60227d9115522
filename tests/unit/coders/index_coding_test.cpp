#include "gradcomp/coders/index_coding.hpp"

#include <gtest/gtest.h>

#include "gradcomp/core/error.hpp"
#include "unit/coders/support.hpp"

namespace gradcomp::coders {
namespace index_coding_test {

index_t bytes_of(const char* coder, index_t elements, index_t kept) {
  return index_bytes(find_index_coder(coder), elements, kept);
}

TEST(IndexCoding, ClosedForms) {
  EXPECT_EQ(bytes_of("u32", 1000, 10), 40);
  EXPECT_EQ(bytes_of("packed", 1000, 10), 16);  // 100 bits
  EXPECT_EQ(bytes_of("packed", 1024, 32), 40);
  EXPECT_EQ(bytes_of("packed", 1025, 32), 44);
  EXPECT_EQ(bytes_of("packed", 1, 1), 0);  // there is only one choice
  EXPECT_EQ(bytes_of("packed", 2, 2), 4);
  EXPECT_EQ(bytes_of("bitmap", 1000, 10), 128);
  EXPECT_EQ(bytes_of("bitmap", 33, 1), 8);
  // 10 entries of 1000: l = 6 gives 60 and 10 + 15 bits in 2 and 1 words
  EXPECT_EQ(bytes_of("elias_fano", 1000, 10), 12);
  EXPECT_EQ(bytes_of("elias_fano", 4, 4), 4);
  for (const IndexCoderEntry* const coder : index_coder_list()) EXPECT_EQ(index_bytes(*coder, 1000, 0), 0);
}

// A ResNet-18 with 11,173,962 parameters at a density of 1 %: published sizes of the formats, rounded up to whole
// words.
TEST(IndexCoding, BytesOfResnet18) {
  const index_t n = 11173962;
  EXPECT_EQ(bytes_of("packed", n, 111739), (335217 + 3) / 4 * 4);
  EXPECT_EQ(bytes_of("bitmap", n, 111739), (1396746 + 3) / 4 * 4);
  EXPECT_NEAR(static_cast<double>(bytes_of("elias_fano", n, 111739)), 119597, 8);
  EXPECT_NEAR(static_cast<double>(bytes_of("elias_fano", n, 11174)), 16696, 8);
}

TEST(IndexCoding, EliasFanoTakesTheBestWidth) {
  for (const index_t n : {1, 7, 1000, 1000000})
    for (index_t k = 1; k <= n; k = k * 3 / 2 + 1) {
      index_t best = 1 << 30;
      for (int l = 0; l < 32; ++l) best = std::min(best, 4 * ((k * l + 31) / 32 + (k + ((n - 1) >> l) + 31) / 32));
      EXPECT_EQ(bytes_of("elias_fano", n, k), best) << n << " " << k;
    }
}

// b = 1 + floor(log2(ln((sqrt 5 - 1) / 2) / ln(1 - k / n))) is the optimum for geometric gaps, except exactly at its
// steps.
TEST(IndexCoding, RiceWidthIsTheOptimum) {
  const index_t n = 10000000;
  int apart = 0, looked = 0;
  for (index_t k = 1; k < n; k = k * 21 / 20 + 1, ++looked) {
    const double p = static_cast<double>(k) / static_cast<double>(n);
    const double best = 1 + std::floor(std::log2(std::log((std::sqrt(5.0) - 1) / 2) / std::log1p(-p)));
    apart += index_coders::rice_width(n, k) != std::max(0.0, best) ? 1 : 0;
    EXPECT_LE(std::abs(index_coders::rice_width(n, k) - std::max(0.0, best)), 1) << k;
  }
  EXPECT_GT(looked, 200);
  EXPECT_LE(apart, 3);
}

TEST(IndexCoding, EntropyIsTheLogarithmOfTheBinomial) {
  EXPECT_NEAR(entropy_bits(10, 3), std::log2(120.0) / 3, 1e-12);
  EXPECT_EQ(entropy_bits(10, 0), 0);
  EXPECT_NEAR(entropy_bits(10, 10), 0, 1e-12);
  EXPECT_NEAR(entropy_bits(1000000, 10000), 8.08, 0.01);
}

TEST(IndexCoding, CapacityHoldsForFewerEntries) {
  for (const index_t n : {1, 33, 1000, 5003})
    for (const std::string& name : index_coder_list().names()) {
      const IndexChoice choice = index_choice(name);
      index_t most = 0;
      for (index_t k = 0; k <= n; ++k) {
        most = std::max(most, index_bytes(*choice.coder, n, k));
        if (k % 7 != 0 && k != n) continue;
        ASSERT_EQ(index_capacity_bytes(choice, n, k), most) << name << " " << n << " " << k;
      }
    }
}

// Entries that need the most bytes: as many large gaps as fit into the bucket.
TEST(IndexCoding, BoundsAreNotExceededByTheWorstGaps) {
  for (const index_t n : {300, 40000, 3000000})
    for (const index_t step : {127, 128, 129, 130, 16384, 16385, 16386})
      for (const index_t far : {index_t{0}, n - 1}) {
        auto indices = coders_test::regular_indices(step - 1, step, n / step);
        if (far > 0 && (indices.empty() || indices.back() < far)) indices.push_back(static_cast<std::uint32_t>(far));
        if (indices.empty()) continue;
        const auto kept = static_cast<index_t>(indices.size());
        EXPECT_LE(static_cast<index_t>(coders_test::reference_delta(indices).size()), bytes_of("delta", n, kept));
        EXPECT_LE(static_cast<index_t>(coders_test::reference_rice(indices, index_coders::rice_width(n, kept)).size()),
                  bytes_of("rice", n, kept));
      }
}

TEST(IndexCoding, NamesAreThoseOfTheOptions) {
  for (const std::string& name : index_coder_list().names()) {
    EXPECT_EQ(index_choice(name).coder->name, name);
    EXPECT_FALSE(index_choice(name).automatic);
  }
  EXPECT_TRUE(index_choice("auto").automatic);
  EXPECT_THROW(index_choice("huffman"), Error);
}

}  // namespace index_coding_test
}  // namespace gradcomp::coders
