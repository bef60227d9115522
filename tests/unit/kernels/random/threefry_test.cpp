// Compares Threefry4x32 with the known answers of Random123 (tests/kat_vectors), and with a serial reference that is
// written from the description in the paper (Salmon et al., SC'11, section 3.2).
#include "gradcomp/kernels/random/threefry.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <set>
#include <tuple>

namespace gradcomp {
namespace threefry_test {

using Words = std::array<std::uint32_t, 4>;

Words words(const Array4& a) { return {a.x0, a.x1, a.x2, a.x3}; }
Array4 array4(const Words& w) { return {w[0], w[1], w[2], w[3]}; }
std::uint32_t rotate_right(std::uint32_t x, int bits) { return (x >> bits) | (x << (32 - bits)); }

struct KnownAnswer {
  Words counter, key, rounds13, rounds20, rounds72;
};

// Random123 1.14, tests/kat_vectors: all zero, all one, and the digits of pi.
const KnownAnswer known_answers[] = {{{0, 0, 0, 0},
                                      {0, 0, 0, 0},
                                      {0x531c7e4f, 0x39491ee5, 0x2c855a92, 0x3d6abf9a},
                                      {0x9c6ca96a, 0xe17eae66, 0xfc10ecd4, 0x5256a7d8},
                                      {0x93171da6, 0x9220326d, 0xb392b7b1, 0xff58a002}},
                                     {{~0u, ~0u, ~0u, ~0u},
                                      {~0u, ~0u, ~0u, ~0u},
                                      {0xc4189358, 0x1c9cc83a, 0xd5881c67, 0x6a0a89e0},
                                      {0x2a881696, 0x57012287, 0xf6c7446e, 0xa16a6732},
                                      {0x60743f3d, 0x9961e684, 0xaab21c34, 0x8c65fb7d}},
                                     {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
                                      {0xa4093822, 0x299f31d0, 0x082efa98, 0xec4e6c89},
                                      {0x4aa71d8f, 0x734738c2, 0x431fc6a8, 0xae6debf1},
                                      {0x59cd1dbb, 0xb8879579, 0x86b5d00c, 0xac8b6d84},
                                      {0x09930adf, 0x7f27bd55, 0x9ed68ce1, 0x97f803f6}}};

/// A plain loop over rounds with rotations that are known only at run time.
Words serial_threefry(const Words& key, const Words& counter, int rounds) {
  const int rotations[8][2] = {{10, 26}, {11, 21}, {13, 27}, {23, 5}, {6, 20}, {17, 11}, {25, 10}, {18, 20}};
  std::array<std::uint32_t, 5> schedule{key[0], key[1], key[2], key[3], 0x1bd11bda};
  for (const auto k : key) schedule[4] ^= k;
  Words x;
  for (std::size_t i = 0; i < 4; ++i) x[i] = counter[i] + schedule[i];
  for (int round = 0; round < rounds; ++round) {
    const std::size_t b = round % 2 == 0 ? 1 : 3, d = round % 2 == 0 ? 3 : 1;
    x[0] += x[b];
    x[b] = rotate_right(x[b], 32 - rotations[round % 8][0]) ^ x[0];
    x[2] += x[d];
    x[d] = rotate_right(x[d], 32 - rotations[round % 8][1]) ^ x[2];
    if (round % 4 == 3) {
      const auto s = static_cast<std::uint32_t>(round / 4 + 1);
      for (std::uint32_t i = 0; i < 4; ++i) x[i] += schedule[(s + i) % 5];
      x[3] += s;
    }
  }
  return x;
}

/// The state before round 12 (the 13th), from the state after it.
Words undo_round_12(Words x) {
  x[3] = rotate_right(x[3] ^ x[2], 20);
  x[2] -= x[3];
  x[1] = rotate_right(x[1] ^ x[0], 6);
  x[0] -= x[1];
  return x;
}

TEST(Threefry, GivesTheKnownAnswersOfRandom123) {
  for (const auto& k : known_answers) {
    EXPECT_EQ(words(threefry4x32<13>(array4(k.key), array4(k.counter))), k.rounds13);
    EXPECT_EQ(words(threefry4x32<20>(array4(k.key), array4(k.counter))), k.rounds20);
    EXPECT_EQ(words(threefry4x32<72>(array4(k.key), array4(k.counter))), k.rounds72);
  }
}

// Random123 has no known answers for 12 rounds. But no key is injected between the end of round 12 and round 13.
TEST(Threefry, TwelveRoundsAreTheKnownAnswersOfThirteenWithTheLastUndone) {
  for (const auto& k : known_answers) {
    EXPECT_EQ(words(threefry4x32_12(array4(k.key), array4(k.counter))), undo_round_12(k.rounds13));
  }
}

TEST(Threefry, TwelveRoundsEqualTheSerialReference) {
  Words key{1, 2, 3, 4}, counter{5, 6, 7, 8};
  for (int i = 0; i < 1000; ++i) {
    const Words draw = serial_threefry(key, counter, 12);
    ASSERT_EQ(words(threefry4x32_12(array4(key), array4(counter))), draw);
    key = counter;
    counter = draw;
  }
}

TEST(Threefry, KeysOfOneSeedNeverCollide) {
  std::set<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t>> keys;
  for (index_t segment = 0; segment < 10; ++segment) {
    for (std::int64_t step = 0; step < 10; ++step) {
      for (const std::uint32_t rank : {0u, 1u, 2u, 100u, every_rank}) {
        const Array4 k = stream_key(7, segment, step, rank);
        keys.emplace(k.x0, k.x1, k.x2, k.x3);
      }
    }
  }
  EXPECT_EQ(keys.size(), 500u);
  EXPECT_NE(words(stream_key(1, 0, 0, 0)), words(stream_key(2, 3, 0, 0)));
}

TEST(Threefry, Uniform24IsExactAndBelowOne) {
  EXPECT_EQ(uniform24(0), 0.0f);
  EXPECT_EQ(uniform24(~0u), 1.0f - 0x1p-24f);
  const Array4 key = stream_key(1, 2, 3, 4);
  double sum = 0, squares = 0;
  const int n = 100000;
  for (int i = 0; i < n; ++i) {
    const double u = uniform24(threefry4x32_12(key, stream_counter(i, random_stream::rounding, 0)).x2);
    sum += u;
    squares += u * u;
  }
  EXPECT_NEAR(sum / n, 0.5, 6 * std::sqrt(1.0 / 12 / n));
  EXPECT_NEAR(squares / n, 1.0 / 3, 6 * std::sqrt(4.0 / 45 / n));
}

}  // namespace threefry_test
}  // namespace gradcomp
