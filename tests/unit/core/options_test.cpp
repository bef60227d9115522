#include "gradcomp/core/options.hpp"

#include <gmock/gmock.h>

#include "gradcomp/core/error.hpp"

namespace gradcomp {
namespace options_test {

using testing::AllOf;
using testing::HasSubstr;

const std::vector<Parameter>& declared() {
  static const std::vector<Parameter> list = {
      Parameter::real("ratio", "0.01", 0, 1, "kept / n", true),
      Parameter::integer("bits", "4", 2, 8, "width of a code"),
      Parameter::choice("norm", "l2", {"l2", "max"}, "what scales a bucket"),
  };
  return list;
}

std::string error_of(const std::map<std::string, std::string>& given) {
  try {
    ParameterValues("owner", declared(), given);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(ParameterValues, DefaultsAreFilledInInTheDeclaredOrder) {
  const ParameterValues options("owner", declared(), {{"norm", "max"}, {"bits", "8"}});
  EXPECT_DOUBLE_EQ(options.real("ratio"), 0.01);
  EXPECT_EQ(options.integer("bits"), 8);
  EXPECT_EQ(options.text("norm"), "max");
  EXPECT_EQ(options.canonical(), "ratio=0.01:bits=8:norm=max");
}

// This keeps names and hashes of older results.
TEST(ParameterValues, AddedAndDottedOnesAreNamedOnlyWhereTheyAreNotTheDefault) {
  auto list = declared();
  list.push_back(Parameter::choice("side", "left", {"left", "right"}, "").as_added());
  list.push_back(Parameter::choice("a.b", "off", {"off", "on"}, ""));
  EXPECT_EQ(ParameterValues("owner", list, {{"side", "left"}}).canonical(), "ratio=0.01:bits=4:norm=l2");
  EXPECT_EQ(ParameterValues("owner", list, {{"side", "right"}, {"a.b", "on"}}).canonical(),
            "ratio=0.01:bits=4:norm=l2:side=right:a.b=on");
}

TEST(ParameterValues, RangesIncludeTheirEndsUnlessOpen) {
  EXPECT_EQ(error_of({{"ratio", "1"}, {"bits", "2"}}), "");
  EXPECT_EQ(error_of({{"ratio", "1e-9"}, {"bits", "8"}}), "");
  EXPECT_THAT(error_of({{"ratio", "0"}}), AllOf(HasSubstr("owner"), HasSubstr("ratio=0"), HasSubstr("(0, 1]")));
  EXPECT_THAT(error_of({{"bits", "9"}}), AllOf(HasSubstr("bits=9"), HasSubstr("an integer in [2, 8]")));
  EXPECT_THAT(error_of({{"norm", "l1"}}), AllOf(HasSubstr("norm=l1"), HasSubstr("one of l2, max")));
}

TEST(ParameterValues, WhatIsNoNumberIsRefused) {
  for (const auto* text : {"", "x", "0.5x", " 0.5", "+0.5", "nan", "inf", "1e999"})
    EXPECT_NE(error_of({{"ratio", text}}), "") << text;
  for (const auto* text : {"", "4.0", "4e0", "four", "99999999999999999999"})
    EXPECT_NE(error_of({{"bits", text}}), "") << text;
}

TEST(ParameterValues, UnknownKeysListTheKnownOnes) {
  EXPECT_THAT(error_of({{"rate", "1"}}), AllOf(HasSubstr("'rate'"), HasSubstr("ratio, bits, norm")));
  EXPECT_THROW(ParameterValues("owner", {}, {{"rate", "1"}}), Error);
  EXPECT_THROW(ParameterValues().text("rate"), Error);
}

}  // namespace options_test
}  // namespace gradcomp
