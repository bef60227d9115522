#include "gradcomp/kernels/pack/elias.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace gradcomp::kernels {
namespace elias_test {

std::string binary(std::uint32_t k) {
  std::string text;
  for (; k > 0; k /= 2) text.insert(text.begin(), k % 2 == 1 ? '1' : '0');
  return text;
}

/// The codes as text, by their definitions.
std::string omega(std::uint32_t k) {
  std::string text = "0";
  while (k > 1) {
    text = binary(k) + text;
    k = static_cast<std::uint32_t>(binary(k).size()) - 1;
  }
  return text;
}
std::string gamma(std::uint32_t k) { return std::string(binary(k).size() - 1, '0') + binary(k); }
std::string delta(std::uint32_t k) { return gamma(static_cast<std::uint32_t>(binary(k).size())) + binary(k).substr(1); }

std::string text_of(const EliasWord& word) {
  std::string text;
  for (std::uint32_t i = 0; i < word.length; ++i) text += (word.bits >> i & 1u) != 0 ? '1' : '0';
  return text;
}

/// Reads integers from a string of bits.
struct Stream {
  explicit Stream(const std::string& bits) : words((bits.size() + 31) / 32, 0) {
    for (std::size_t i = 0; i < bits.size(); ++i) words[i / 32] |= (bits[i] == '1' ? 1u : 0u) << (i % 32);
    reader = {words.data(), words.data() + words.size(), static_cast<index_t>(bits.size())};
  }
  std::vector<std::uint32_t> words;
  EliasReader reader;
};

TEST(Elias, LengthsOfTheCodes) {
  const std::uint32_t k[] = {1, 2, 3, 4, 7, 8, 16, 17, 100, 1000};
  const std::uint32_t of_omega[] = {1, 3, 3, 6, 6, 7, 11, 11, 13, 17};
  const std::uint32_t of_delta[] = {1, 4, 4, 5, 5, 8, 9, 9, 11, 16};  // L + 2 floor(log2(L + 1)) + 1
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(elias_word(EliasCode::omega, k[i]).length, of_omega[i]) << k[i];
    EXPECT_EQ(elias_word(EliasCode::delta, k[i]).length, of_delta[i]) << k[i];
  }
}

TEST(Elias, CodesAreThoseOfTheDefinitions) {
  for (std::uint32_t k = 1; k <= largest_elias; ++k) {
    ASSERT_EQ(text_of(elias_word(EliasCode::omega, k)), omega(k)) << k;
    ASSERT_EQ(text_of(elias_word(EliasCode::delta, k)), delta(k)) << k;
  }
}

TEST(Elias, IntegersAreReadBack) {
  std::mt19937 engine(4);
  for (const EliasCode code : {EliasCode::omega, EliasCode::delta}) {
    std::vector<std::uint32_t> numbers;
    for (std::uint32_t k = 1; k <= largest_elias; k += 1 + k / 40) numbers.push_back(k);
    for (int i = 0; i < 3000; ++i) numbers.push_back(1 + (engine() >> (19 + engine() % 12)));
    std::string bits;
    for (const std::uint32_t k : numbers) bits += text_of(elias_word(code, k));
    Stream stream(bits);
    for (const std::uint32_t k : numbers) ASSERT_EQ(stream.reader.next(code), k);
    EXPECT_TRUE(stream.reader.ends());
  }
}

TEST(Elias, StreamsThatAreNoneAreSeen) {
  for (const EliasCode code : {EliasCode::omega, EliasCode::delta}) {
    for (const std::string& bits :
         {std::string(), std::string(40, '1'), std::string(40, '0').substr(code == EliasCode::omega ? 40 : 0),
          delta(16384), omega(16384) + "0", text_of(elias_word(code, 100)).substr(0, 5)}) {
      if (code == EliasCode::omega && bits == delta(16384)) continue;  // some small numbers
      if (code == EliasCode::delta && bits[0] == '1') continue;
      Stream stream(bits);
      stream.reader.next(code);
      EXPECT_FALSE(stream.reader.good) << bits;
      stream.reader.next(code);
      EXPECT_FALSE(stream.reader.ends()) << bits;
    }
    Stream longer(text_of(elias_word(code, 5)) + "0");
    longer.reader.next(code);
    EXPECT_FALSE(longer.reader.ends()) << "a bit is left";
    Stream padded(text_of(elias_word(code, 5)));
    padded.words[0] |= 0x80000000u;
    padded.reader.next(code);
    EXPECT_FALSE(padded.reader.ends()) << "a bit behind the end";
  }
}

}  // namespace elias_test
}  // namespace gradcomp::kernels
