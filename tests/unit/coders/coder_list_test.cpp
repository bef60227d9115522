#include "gradcomp/coders/coder_list.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "error_of.hpp"
#include "gradcomp/coders/index_coding.hpp"
#include "gradcomp/coders/value_coder.hpp"

namespace gradcomp::coders {
namespace coder_list_test {

using test::error_of;
using testing::AllOf;
using testing::HasSubstr;

struct Named {
  std::string name;
  std::uint32_t id;
  bool complete = true;
  bool is_complete() const { return complete; }
};

std::string error_of_list(const std::vector<Named>& entries) {
  return error_of([&] { const CoderList<Named> list(entries, "index coder"); });
}

TEST(CoderList, IsInTheOrderOfTheIds) {
  const std::vector<Named> entries = {{"a", 15}, {"b", 0}, {"c", 7}};
  EXPECT_THAT(CoderList<Named>(entries, "index coder").names(), testing::ElementsAre("b", "c", "a"));
}

TEST(CoderList, RefusesTwoWithOneId) {
  EXPECT_THAT(error_of_list({{"rice", 4}, {"frame", 4}, {"u32", 0}}),
              AllOf(HasSubstr("'rice' and 'frame' have the same id 4"), HasSubstr("allowed: 1, 2, 3, 5, 6")));
}

TEST(CoderList, RefusesAnIdThatNeedsMoreThanFourBits) {
  EXPECT_THAT(error_of_list({{"frame", 16}}), HasSubstr("'frame': its id is 16; allowed: 0 to 15"));
}

TEST(CoderList, RefusesAnEntryThatLacksAFunction) {
  EXPECT_THAT(error_of_list({{"frame", 1, false}}), HasSubstr("index coder 'frame': a function"));
}

template <class Entry>
void expect_described(const CoderList<Entry>& list) {
  std::set<std::string> names;
  std::set<std::uint32_t> ids;
  for (const Entry* const coder : list) {
    EXPECT_TRUE(names.insert(coder->name).second && ids.insert(coder->id).second) << coder->name;
    EXPECT_FALSE(coder->summary.empty() || coder->size.empty()) << coder->name;
  }
  EXPECT_EQ(list.front().id, 0u) << "payloads without flags mean this coder";
}

TEST(CoderList, EveryCoderSaysWhatItIs) {
  expect_described(index_coder_list());
  expect_described(value_coder_list());
}

// Payloads of earlier versions and of other ranks name coders by these ids.
TEST(CoderList, IdsOnTheWireAreTheOldOnes) {
  const std::vector<std::string> index = {"u32", "packed", "bitmap", "delta", "rice", "elias_fano"};
  for (std::uint32_t id = 0; id < index.size(); ++id) EXPECT_EQ(index_coder_list().with_id(id).name, index[id]);
  const std::vector<std::string> values = {"f32", "f16", "bf16", "int8"};
  for (std::uint32_t id = 0; id < values.size(); ++id) EXPECT_EQ(value_coder_list().with_id(id).name, values[id]);
}

TEST(CoderList, AnswersAnUnknownNameWithTheNearest) {
  EXPECT_THAT(
      error_of([] { find_index_coder("elias-fano"); }),
      AllOf(HasSubstr("unknown index coder 'elias-fano'; did you mean 'elias_fano'?"), HasSubstr("u32, packed")));
  EXPECT_THAT(error_of([] { index_choice("autor"); }), AllOf(HasSubstr("did you mean 'auto'?"), HasSubstr(", auto")));
  EXPECT_THAT(error_of([] { find_value_coder("fp16"); }),
              AllOf(HasSubstr("unknown value coder 'fp16'; did you mean 'f16'?"), HasSubstr("f32, f16, bf16, int8")));
  EXPECT_THAT(error_of([] { find_value_coder("posit"); }), testing::Not(HasSubstr("did you mean")));
}

TEST(CoderList, ListsTheIdsWhenAPayloadHasAnother) {
  EXPECT_THAT(error_of([] { index_coder_list().with_id(14); }),
              AllOf(HasSubstr("payload: no index coder has the id 14"), HasSubstr("0 (u32), 1 (packed)")));
}

}  // namespace coder_list_test
}  // namespace gradcomp::coders
