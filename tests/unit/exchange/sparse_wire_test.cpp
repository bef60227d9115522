// Lists of entries that travel: round trip, and every way in which the bytes of a peer can be wrong.
#include "gradcomp/exchange/detail/sparse_wire.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "gradcomp/method/spec.hpp"

namespace gradcomp {
namespace sparse_wire_test {

using testing::ElementsAre;
using testing::HasSubstr;

class Wire : public testing::Test {
 protected:
  index_t encode(std::vector<std::uint32_t> i, std::vector<float> v, bool flagged = false) {
    indices = std::move(i);
    values = std::move(v);
    const auto kept = static_cast<index_t>(values.size());
    return wire.encode(exec, {{indices.data(), values.data(), kept}, flagged, kept + 1}, buffer);
  }
  SparseList decode(index_t size, index_t capacity = 8, index_t first = 0, index_t last = 100) {
    return wire.decode(exec, Span<const std::byte>(buffer.data(), static_cast<std::size_t>(size)), capacity, first,
                       last);
  }
  std::string refusal(index_t size, index_t capacity = 8, index_t first = 0, index_t last = 100) {
    try {
      decode(size, capacity, first, last);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  }
  template <class T>
  void put(std::size_t at, T value) {
    std::memcpy(buffer.data() + at, &value, sizeof value);
  }

  Exec exec;
  MethodSpec method = parse_method("top_k");
  SparseWire wire{*method.compressor, 100};
  Vector<std::byte> buffer{"buffer", static_cast<std::size_t>(SparseWire::capacity(8))};
  std::vector<std::uint32_t> indices;
  std::vector<float> values;
};

TEST_F(Wire, CarriesAList) {
  const index_t size = encode({3, 7, 99}, {1, -2, 0.5f});
  EXPECT_EQ(size, SparseWire::capacity(3));
  const SparseList list = decode(size);
  EXPECT_FALSE(list.flagged);
  EXPECT_EQ(list.message, 4);
  ASSERT_EQ(list.entries.kept, 3);
  EXPECT_THAT(std::vector<std::uint32_t>(list.entries.indices, list.entries.indices + 3), ElementsAre(3, 7, 99));
  EXPECT_THAT(std::vector<float>(list.entries.values, list.entries.values + 3), ElementsAre(1, -2, 0.5f));
  EXPECT_EQ(decode(encode({}, {})).entries.kept, 0);
}

TEST_F(Wire, AFlaggedListIsEmpty) {
  const SparseList list = decode(encode({3}, {1}, true));
  EXPECT_TRUE(list.flagged);
  EXPECT_EQ(list.entries.kept, 0);
}

TEST_F(Wire, RefusesWhatIsNotSuchAList) {
  EXPECT_THAT(refusal(encode({3, 3}, {1, 2})), HasSubstr("1 have an index out of range or order"));
  EXPECT_NE(refusal(encode({3, 2}, {1, 2})), "");
  EXPECT_NE(refusal(encode({3, 100}, {1, 2})), "");
  EXPECT_NE(refusal(encode({3}, {std::numeric_limits<float>::infinity()})), "");
  EXPECT_THAT(refusal(encode({3}, {1}), 8, 4, 100), HasSubstr("the first index is 3, allowed are [4, 100)"));
  EXPECT_NE(refusal(encode({3}, {1}), 8, 0, 3), "");
  EXPECT_THAT(refusal(encode({1, 2, 3}, {1, 1, 1}), 3), HasSubstr("message of 4, expected at most 3"));
  const index_t size = encode({1, 2}, {1, 1});
  for (const index_t wrong : {index_t{0}, index_t{31}, index_t{32}, size - 1, size + 1}) EXPECT_NE(refusal(wrong), "");
  for (const std::size_t field : {0u, 4u, 6u, 8u, 16u, 28u, 32u}) {  // magic .. spec, entries of the message
    encode({1, 2}, {1, 1});
    put(field, std::uint16_t{0xffff});
    EXPECT_NE(refusal(size), "") << "byte " << field;
  }
  encode({1, 2}, {1, 1});
  put(24, std::uint32_t{PayloadHeader::flag_diverged});
  EXPECT_THAT(refusal(size), HasSubstr("flagged"));
  EXPECT_THROW(encode({1, 2, 3, 4, 5, 6, 7, 8, 9}, std::vector<float>(9, 1.0f)), Error);
}

}  // namespace sparse_wire_test
}  // namespace gradcomp
