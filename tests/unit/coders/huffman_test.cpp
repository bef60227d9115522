#include "gradcomp/coders/huffman.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <random>

#include "gradcomp/core/error.hpp"
#include "unit/coders/support.hpp"

namespace gradcomp::coders {
namespace huffman_test {

using coders_test::Bytes;
using coders_test::Guarded;

SymbolCounts counts_of(const Bytes& symbols) {
  SymbolCounts counts{};
  for (const std::byte s : symbols) ++counts[static_cast<std::size_t>(s)];
  return counts;
}

std::uint64_t bits_of(const SymbolCounts& counts, const CodeLengths& lengths) {
  std::uint64_t bits = 0;
  for (std::size_t s = 0; s < 256; ++s) bits += counts[s] * lengths[s];
  return bits;
}

/// Entropy of order zero, in bits per symbol.
double entropy(const SymbolCounts& counts) {
  const double n = static_cast<double>(std::accumulate(counts.begin(), counts.end(), std::uint64_t{0}));
  double h = 0;
  for (const std::uint64_t c : counts) {
    if (c > 0) h -= static_cast<double>(c) / n * std::log2(static_cast<double>(c) / n);
  }
  return h;
}

/// Bits of the best code with lengths of at most 15 bits, computed level by level of its tree, frequent symbols first.
std::uint64_t best_bits(const SymbolCounts& counts) {
  std::vector<std::uint64_t> weights;
  for (const std::uint64_t c : counts) {
    if (c > 0) weights.push_back(c);
  }
  std::sort(weights.rbegin(), weights.rend());
  const auto n = weights.size();
  std::map<std::vector<std::size_t>, std::uint64_t> known;
  constexpr std::uint64_t never = ~std::uint64_t{0} / 4;
  const std::function<std::uint64_t(std::size_t, std::size_t, std::size_t)> cost =
      [&](std::size_t depth, std::size_t nodes, std::size_t placed) -> std::uint64_t {
    if (placed == n) return nodes == 0 ? 0 : never;
    if (depth > 15 || nodes == 0 || nodes > n - placed) return never;
    const auto found = known.find({depth, nodes, placed});
    if (found != known.end()) return found->second;
    std::uint64_t best = never, own = 0;
    for (std::size_t leaves = 0; leaves <= nodes && placed + leaves <= n; ++leaves) {
      if (leaves > 0) own += depth * weights[placed + leaves - 1];
      best = std::min(best, own + cost(depth + 1, 2 * (nodes - leaves), placed + leaves));
    }
    return known[{depth, nodes, placed}] = best;
  };
  return cost(0, 1, 0);
}

/// Kinds of data that compress.
Bytes skewed(std::size_t n, double decay, unsigned seed = 5) {
  std::mt19937 engine(seed);
  std::geometric_distribution<int> geometric(decay);
  Bytes symbols(n);
  for (auto& s : symbols) s = static_cast<std::byte>(std::min(geometric(engine), 255) * 37 % 256);
  return symbols;
}

/// Calls encode() with guarded memory. Returns an empty section if it would not be smaller.
Bytes encoded(HuffmanCoder& coder, const Bytes& symbols) {
  const Guarded<std::byte> in(symbols), out(symbols.size());
  const auto size =
      static_cast<std::size_t>(coder.encode(Exec(), in.data(), static_cast<index_t>(symbols.size()), out.data()));
  EXPECT_TRUE(out.intact());
  EXPECT_LE(size, symbols.size());
  return out.host(size);
}

Bytes decoded(HuffmanCoder& coder, const Bytes& section, std::size_t capacity) {
  const Guarded<std::byte> in(section), out(capacity);
  index_t count = -1;
  try {
    count = coder.decode(Exec(), Span<const std::byte>(in.data(), section.size()), out.data());
  } catch (const Error&) {
  }
  EXPECT_TRUE(out.intact());
  if (count < 0) throw Error("refused");
  return out.host(static_cast<std::size_t>(count));
}

/// A plain serial decoder that reads one code after the other, bit by bit, written from the description of the format.
Bytes decoded_serially(const Bytes& section) {
  std::uint64_t count = 0;
  std::memcpy(&count, section.data(), 8);
  std::map<std::pair<int, std::uint32_t>, int> codes;  // (length, code) -> symbol
  std::uint32_t next = 0;
  for (int length = 1; length <= 15; ++length, next *= 2) {
    for (int s = 0; s < 256; ++s) {
      const int byte = static_cast<int>(section[static_cast<std::size_t>(8 + s / 2)]);
      if ((s % 2 == 0 ? byte & 15 : byte >> 4) == length) codes[{length, next++}] = s;
    }
  }
  const std::size_t chunks = (count + 4095) / 4096;
  const std::byte* const words = section.data() + 136 + 4 * chunks;
  Bytes symbols;
  for (std::size_t c = 0; c < chunks; ++c) {
    std::uint32_t word = 0;
    if (c > 0) std::memcpy(&word, section.data() + 136 + 4 * (c - 1), 4);
    std::size_t bit = std::size_t{32} * word;
    for (std::size_t i = 4096 * c; i < std::min<std::size_t>(count, 4096 * (c + 1)); ++i) {
      int length = 0;
      std::uint32_t code = 0;
      while (!codes.contains({length, code})) {
        code = 2 * code + (static_cast<std::uint32_t>(words[bit / 8]) >> (bit % 8) & 1u);
        ++bit;
        if (++length > 15) return {};
      }
      symbols.push_back(static_cast<std::byte>(codes[{length, code}]));
    }
  }
  return symbols;
}

TEST(Huffman, LengthsAreTheBestOfAtMost15Bits) {
  std::mt19937 engine(3);
  for (int trial = 0; trial < 60; ++trial) {
    SymbolCounts counts{};
    const int symbols = 2 + trial % 24;
    std::uint64_t previous = 1, last = 1;
    for (int s = 0; s < symbols; ++s) {
      auto& count = counts[static_cast<std::size_t>((s * 41) % 256)];
      if (trial % 3 == 0) {  // for Fibonacci numbers, the longest code without a limit would have symbols - 1 bits
        count = last;
        last += std::exchange(previous, last);
      } else {
        count = 1 + engine() % (trial % 3 == 1 ? 4 : 100000);
      }
    }
    const CodeLengths lengths = code_lengths(counts);
    ASSERT_TRUE(is_code(lengths)) << trial;
    for (std::size_t s = 0; s < 256; ++s) ASSERT_EQ(lengths[s] > 0, counts[s] > 0);
    ASSERT_EQ(bits_of(counts, lengths), best_bits(counts)) << trial;
  }
}

TEST(Huffman, LengthsOfNoneOneAndAll) {
  SymbolCounts counts{};
  EXPECT_EQ(code_lengths(counts), CodeLengths{});
  counts[200] = 17;
  CodeLengths lengths = code_lengths(counts);
  EXPECT_EQ(lengths[200], 1);
  EXPECT_EQ(std::count(lengths.begin(), lengths.end(), 0), 255);
  counts.fill(9);
  lengths = code_lengths(counts);
  EXPECT_EQ(std::count(lengths.begin(), lengths.end(), 8), 256);
  counts[0] = std::uint64_t{1} << 50;  // the others hardly count
  EXPECT_TRUE(is_code(code_lengths(counts)));
}

TEST(Huffman, OnlyCompleteCodesAreCodes) {
  CodeLengths lengths{};
  EXPECT_FALSE(is_code(lengths));
  lengths[3] = 1;
  EXPECT_TRUE(is_code(lengths));  // a lone symbol
  lengths[3] = 2;
  EXPECT_FALSE(is_code(lengths));
  lengths[3] = lengths[4] = 1;
  EXPECT_TRUE(is_code(lengths));
  lengths[5] = 1;
  EXPECT_FALSE(is_code(lengths)) << "over-subscribed";
  lengths[4] = lengths[5] = 2;
  EXPECT_TRUE(is_code(lengths));
  lengths[5] = 3;
  EXPECT_FALSE(is_code(lengths)) << "incomplete";
  lengths.fill(1);
  EXPECT_FALSE(is_code(lengths)) << "over-subscribed 128 times";
}

TEST(Huffman, RoundTripOfEverySize) {
  HuffmanCoder coder(200000);
  int coded = 0;
  for (const std::size_t n : {0, 1, 2, 31, 136, 137, 150, 300, 1000, 4095, 4096, 4097, 8192, 12289, 200000}) {
    for (const double decay : {0.9, 0.3, 0.05}) {
      const Bytes symbols = skewed(n, decay);
      const Bytes section = encoded(coder, symbols);
      if (section.empty()) {
        ASSERT_TRUE(n < 400) << n;
        continue;
      }
      ++coded;
      ASSERT_LT(section.size(), n);
      ASSERT_EQ(decoded(coder, section, 200000), symbols) << n << " " << decay;
      ASSERT_EQ(decoded_serially(section), symbols) << n << " " << decay;
    }
  }
  EXPECT_GE(coded, 20);
}

TEST(Huffman, BitsAreBetweenTheEntropyAndOneMore) {
  HuffmanCoder coder(100000);
  for (const double decay : {0.99, 0.9, 0.5, 0.2, 0.05, 0.02}) {
    const Bytes symbols = skewed(100000, decay);
    const SymbolCounts counts = counts_of(symbols);
    const double h = entropy(counts), bits = static_cast<double>(bits_of(counts, code_lengths(counts))) / 1e5;
    EXPECT_GE(bits, h - 1e-9);
    EXPECT_LT(bits, h + 1);
    const auto chunks = (symbols.size() + 4095) / 4096;  // each ends inside a word
    const double written = 8 * static_cast<double>(encoded(coder, symbols).size() - 136 - 4 * chunks) / 1e5;
    EXPECT_GE(written, bits);
    EXPECT_LE(written, bits + 32 * static_cast<double>(chunks) / 1e5);
  }
}

TEST(Huffman, OneSymbolTakesOneBit) {
  HuffmanCoder coder(10000);
  for (const std::size_t n : {400, 4096, 10000}) {
    const Bytes symbols(n, std::byte{0xc3});
    const Bytes section = encoded(coder, symbols);
    std::size_t words = n / 4096 * 128 + (n % 4096 + 31) / 32;
    EXPECT_EQ(section.size(), 136 + 4 * ((n + 4095) / 4096) + 4 * words);
    EXPECT_EQ(decoded(coder, section, 10000), symbols);
  }
}

TEST(Huffman, UniformBytesStayAsTheyAre) {
  HuffmanCoder coder(50000);
  std::mt19937 engine(7);
  Bytes symbols(50000);
  for (auto& s : symbols) s = static_cast<std::byte>(engine() & 0xff);
  EXPECT_TRUE(encoded(coder, symbols).empty());
}

TEST(Huffman, SameBytesForAnyHistoryOfTheCoder) {
  HuffmanCoder used(30000), fresh(30000);
  const Bytes other = skewed(30000, 0.02), symbols = skewed(20000, 0.4);
  decoded(used, encoded(used, other), 30000);
  EXPECT_EQ(encoded(used, symbols), encoded(fresh, symbols));
}

TEST(Huffman, DamagedSectionsAreRefused) {
  HuffmanCoder coder(20000);
  const Bytes symbols = skewed(20000, 0.3), good = encoded(coder, symbols);
  ASSERT_FALSE(good.empty());
  const auto refused = [&](const std::function<void(Bytes&)>& spoil) {
    Bytes bad = good;
    spoil(bad);
    try {
      decoded(coder, bad, 20000);
      return false;
    } catch (const Error&) {
      return true;
    }
  };
  const auto set = [](Bytes& bytes, std::size_t at, auto value) {
    std::memcpy(bytes.data() + at, &value, sizeof value);
  };
  for (const std::size_t size : {std::size_t{0}, std::size_t{8}, std::size_t{136}, good.size() - 4, good.size() - 1})
    EXPECT_TRUE(refused([&](Bytes& b) { b.resize(size); })) << size;
  EXPECT_TRUE(refused([&](Bytes& b) { b.resize(b.size() + 4); }));
  for (const std::uint64_t count :
       {std::uint64_t{0}, std::uint64_t{16384}, std::uint64_t{19000}, std::uint64_t{20001}, ~std::uint64_t{0}})
    EXPECT_TRUE(refused([&](Bytes& b) { set(b, 0, count); })) << count;
  EXPECT_TRUE(refused([&](Bytes& b) { std::fill_n(b.begin() + 8, 128, std::byte{0x11}); })) << "over-subscribed";
  EXPECT_TRUE(refused([&](Bytes& b) { std::fill_n(b.begin() + 8, 128, std::byte{0xff}); })) << "incomplete";
  EXPECT_TRUE(refused([&](Bytes& b) { std::fill_n(b.begin() + 8, 128, std::byte{0}); })) << "no code";
  for (const std::uint32_t end : {0u, 1u, 0xffffffffu})
    EXPECT_TRUE(refused([&](Bytes& b) { set(b, 136 + 4, end); })) << "an end out of order or range: " << end;
  EXPECT_TRUE(refused([&](Bytes& b) { std::swap_ranges(b.begin() + 136, b.begin() + 140, b.begin() + 140); }));
  EXPECT_TRUE(refused([&](Bytes& b) { b.back() |= std::byte{0x80}; })) << "padding";
  std::mt19937 engine(1);
  for (int trial = 0; trial < 400; ++trial) {  // whatever is decoded must lie inside the output
    Bytes bad = good;
    for (int flips = 0; flips < 3; ++flips) bad[engine() % bad.size()] ^= static_cast<std::byte>(1u << engine() % 8);
    try {
      decoded(coder, bad, 20000);
    } catch (const Error&) {
    }
  }
  EXPECT_EQ(decoded(coder, good, 20000), symbols);
}

}  // namespace huffman_test
}  // namespace gradcomp::coders
