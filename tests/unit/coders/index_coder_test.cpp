#include "gradcomp/coders/index_coder.hpp"

#include <gtest/gtest.h>

#include "gradcomp/core/error.hpp"
#include "unit/coders/support.hpp"

namespace gradcomp::coders {
namespace index_coder_test {

using coders_test::Bytes;
using coders_test::Guarded;
using coders_test::Indices;
using coders_test::Received;

struct Section {
  const IndexCoderEntry* coder;
  Bytes bytes;
};

Section encode(const IndexCoder& coder, const Indices& indices) {
  const Exec exec;
  const Guarded<std::uint32_t> in(indices);
  const Guarded<std::byte> out(static_cast<std::size_t>(coder.capacity_bytes()));
  const Encoded encoded = coder.encode(exec, in.data(), static_cast<index_t>(indices.size()), out.data());
  exec.fence();
  EXPECT_TRUE(out.intact());
  EXPECT_LE(encoded.bytes, coder.capacity_bytes());
  EXPECT_EQ(encoded.bytes % 4, 0);
  return {encoded.coder, out.host(static_cast<std::size_t>(encoded.bytes))};
}

/// Returns false if the section is refused.
bool decode(const IndexCoder& coder, const Section& section, index_t kept, Indices& indices) {
  const Received in(section.bytes);
  const Guarded<std::uint32_t> out(static_cast<std::size_t>(kept));
  bool good = true;
  try {
    const std::uint32_t* const found = coder.decode(Exec(), *section.coder, in.span(), kept, out.data());
    indices.resize(static_cast<std::size_t>(kept));
    Kokkos::deep_copy(HostSpan<std::uint32_t>(indices.data(), indices.size()),
                      Span<const std::uint32_t>(found, indices.size()));
  } catch (const Error&) {
    good = false;
  }
  EXPECT_TRUE(out.intact()) << "it wrote outside of the indices";
  return good;
}

bool are_ascending_below(const Indices& indices, index_t elements) {
  return std::adjacent_find(indices.begin(), indices.end(), std::greater_equal<>()) == indices.end() &&
         (indices.empty() || static_cast<index_t>(indices.back()) < elements);
}

/// What a serial encoder of these tests writes, or, for a coder that has none here, what the coder itself writes.
Bytes expected(const IndexCoderEntry& coder, const Indices& indices, index_t elements) {
  if (coders_test::has_reference(coder)) return coders_test::reference(coder, indices, elements);
  return encode(IndexCoder({&coder}, elements, static_cast<index_t>(indices.size())), indices).bytes;
}

/// Every registered coder, and "auto".
class IndexCoders : public testing::TestWithParam<std::string> {};

TEST_P(IndexCoders, BytesAreTheReferencesAndComeBack) {
  for (const auto& one : coders_test::cases()) {
    const IndexChoice choice = index_choice(GetParam());
    const auto kept = static_cast<index_t>(one.indices.size());
    if (one.elements > 1 << 30 && index_capacity_bytes(choice, one.elements, kept) > 1 << 20) continue;  // a bitmap
    SCOPED_TRACE(one.name + " of " + std::to_string(one.elements));
    const IndexCoder coder(choice, one.elements, kept);
    const Section section = encode(coder, one.indices);
    EXPECT_TRUE(section.bytes == expected(*section.coder, one.indices, one.elements));
    if (section.coder->has_fixed_size()) {
      EXPECT_EQ(static_cast<index_t>(section.bytes.size()), index_bytes(*section.coder, one.elements, kept));
    }
    Indices back;
    ASSERT_TRUE(decode(coder, section, kept, back));
    EXPECT_TRUE(back == one.indices);
  }
}

// A coder that is prepared for all entries also takes fewer, in any order of calls.
TEST_P(IndexCoders, WorkSpaceIsReused) {
  const index_t n = 100000;
  const IndexCoder coder(index_choice(GetParam()), n, n);
  for (const double density : {0.9, 0.0001, 0.3, 0.01, 0.6}) {
    const Indices indices = coders_test::random_indices(n, density);
    Indices back;
    EXPECT_TRUE(decode(coder, encode(coder, indices), static_cast<index_t>(indices.size()), back));
    EXPECT_TRUE(back == indices) << density;
  }
}

TEST_P(IndexCoders, OtherLengthsAndCountsAreRefused) {
  for (const double density : {0.004, 0.1, 0.6}) {
    const index_t n = 1200;
    const Indices indices = coders_test::random_indices(n, density);
    const auto kept = static_cast<index_t>(indices.size());
    const IndexCoder coder(index_choice(GetParam()), n, n);
    const Section section = encode(coder, indices);
    Indices back;
    ASSERT_TRUE(decode(coder, section, kept, back));
    for (std::size_t size = 0; size < section.bytes.size(); ++size)
      EXPECT_FALSE(
          decode(coder, {section.coder, Bytes(section.bytes.begin(), section.bytes.begin() + size)}, kept, back))
          << "cut to " << size << " of " << section.bytes.size();
    Section longer = section;
    longer.bytes.resize(section.bytes.size() + 4);
    EXPECT_FALSE(decode(coder, longer, kept, back));
    EXPECT_FALSE(decode(coder, section, 0, back));
    EXPECT_FALSE(decode(coder, section, n + 1, back));
    for (const index_t other : {kept - 1, kept + 1})
      EXPECT_TRUE(!decode(coder, section, other, back) || are_ascending_below(back, n));
    const char* const wrong = section.coder->name == "u32" ? "packed" : "u32";
    EXPECT_FALSE(decode(coder, {&find_index_coder(wrong), section.bytes}, kept, back));
  }
}

// Accepted bytes are the only encoding of what they decode to: encoding this again gives the same bytes.
TEST_P(IndexCoders, FlippedBitsAreRefusedOrValid) {
  std::mt19937 random(5);
  int refused = 0;
  for (const double density : {0.005, 0.1, 0.5}) {
    const index_t n = 3001;
    const Indices indices = coders_test::random_indices(n, density);
    const auto kept = static_cast<index_t>(indices.size());
    const IndexCoder coder(index_choice(GetParam()), n, kept);
    const Section section = encode(coder, indices);
    for (int trial = 0; trial < 200; ++trial) {
      Section changed = section;
      if (trial % 4 == 0) {
        for (auto& byte : changed.bytes) byte = static_cast<std::byte>(random());
      } else if (trial % 4 == 1) {
        std::memset(&changed.bytes[random() % (changed.bytes.size() / 4) * 4], trial % 8 == 1 ? 0xff : 0, 4);
      } else {
        for (int flips = trial % 3; flips >= 0; --flips)
          changed.bytes[random() % changed.bytes.size()] ^= static_cast<std::byte>(1u << random() % 8);
      }
      Indices back;
      if (!decode(coder, changed, kept, back)) {
        ++refused;
        continue;
      }
      EXPECT_TRUE(are_ascending_below(back, n));
      EXPECT_TRUE(expected(*section.coder, back, n) == changed.bytes);
    }
  }
  EXPECT_GT(refused, 100);
}

INSTANTIATE_TEST_SUITE_P(All, IndexCoders, testing::ValuesIn(index_choice_names()),
                         [](const auto& test) { return test.param; });

void expect_refused(const char* name, index_t n, const std::vector<std::uint8_t>& bytes, index_t kept) {
  Section section{&find_index_coder(name), Bytes(bytes.size())};
  std::memcpy(section.bytes.data(), bytes.data(), bytes.size());
  Indices back;
  EXPECT_FALSE(decode(IndexCoder(index_choice(name), n, std::min<index_t>(n, 10)), section, kept, back)) << name;
}

TEST(IndexCoder, HandmadeMistakesAreRefused) {
  expect_refused("u32", 10, {3, 0, 0, 0, 3, 0, 0, 0}, 2);
  expect_refused("u32", 10, {10, 0, 0, 0}, 1);
  expect_refused("packed", 10, {0x21, 1, 0, 0}, 2);                           // a stray bit behind 1, 2
  expect_refused("packed", 10, {0x12, 0, 0, 0}, 2);                           // 2, 1
  expect_refused("bitmap", 10, {0, 4, 0, 0}, 1);                              // index 10
  expect_refused("bitmap", 10, {3, 0, 0, 0}, 1);                              // two
  expect_refused("delta", 1000, {0x80, 0, 0, 0}, 1);                          // zero in two bytes
  expect_refused("delta", 1000, {1, 1, 0, 0}, 1);                             // padding of 1
  expect_refused("delta", 1000, {1, 0, 0, 0x80}, 1);                          // padding that does not end
  expect_refused("delta", 1000, {0xff, 0xff, 0xff, 0xff, 0x1f, 0, 0, 0}, 1);  // 33 bits
  expect_refused("delta", 1000, {0xff, 0xff, 0xff, 0xff, 0x8f, 0, 0, 0}, 1);  // 6 bytes
  expect_refused("delta", 1000, {0x81, 0x80, 0x80, 0x80, 0x10, 0, 0, 0}, 1);  // 33 bits, of which the lower are 1
  expect_refused("delta", 1000, {0xff, 0xff, 0xff, 0xff}, 0);
  expect_refused("rice", 4, {2, 0, 0, 0, 0, 0, 0, 0}, 1);                                // width 1: no one
  expect_refused("rice", 4, {0, 0, 0, 0, 4, 0, 0, 0}, 1);                                // quotient 2, index 4
  expect_refused("elias_fano", 10, {0, 4, 0, 0}, 1);                                     // width 0: index 10
  expect_refused("elias_fano", 10, {3, 0, 0, 0}, 1);                                     // two
  expect_refused("elias_fano", 0xffffffff, {0, 0, 0, 0x50, 0, 0, 0, 0, 1, 0, 2, 0}, 2);  // width 28: 0, 2^32 + 5
}

TEST(IndexCoder, AutomaticTakesTheShortest) {
  for (const auto& one : coders_test::cases()) {
    const auto kept = static_cast<index_t>(one.indices.size());
    const Section section = encode(IndexCoder(index_choice("auto"), one.elements, kept), one.indices);
    std::size_t least = SIZE_MAX;
    for (const IndexCoderEntry* const coder : index_coder_list()) {
      if (coder->name == "bitmap" && one.elements > 1 << 30 && kept > 0) continue;  // 512 MB
      least = std::min(least, expected(*coder, one.indices, one.elements).size());
    }
    EXPECT_EQ(section.bytes.size(), least) << one.name << " of " << one.elements;
  }
}

TEST(IndexCoder, RandomPositionsComeNearTheEntropy) {
  const index_t n = 1000000;
  for (const double density : {0.001, 0.01}) {
    const Indices indices = coders_test::random_indices(n, density, 7);
    const auto kept = static_cast<index_t>(indices.size());
    const double bound = entropy_bits(n, kept) * static_cast<double>(kept) / 8;
    for (const char* name : {"elias_fano", "rice", "auto"}) {
      const auto bytes = static_cast<double>(encode(IndexCoder(index_choice(name), n, kept), indices).bytes.size());
      EXPECT_LE(bytes, bound * (name == std::string("elias_fano") ? 1.08 : 1.05)) << name << " " << density;
      EXPECT_GE(bytes, bound * 0.99) << name << " " << density;  // otherwise the test measures something else
    }
  }
}

TEST(IndexCoder, OwnsNothingForFieldsOfFixedWidth) {
  EXPECT_EQ(IndexCoder(index_choice("u32"), 1000000, 10000).bytes(), 0);
  EXPECT_EQ(IndexCoder(index_choice("packed"), 1000000, 10000).bytes(), 0);
  EXPECT_THROW(IndexCoder(index_choice("u32"), 10, 11), Error);
  EXPECT_THROW(IndexCoder(index_choice("u32"), index_t{1} << 32, 1), Error);
}

}  // namespace index_coder_test
}  // namespace gradcomp::coders
