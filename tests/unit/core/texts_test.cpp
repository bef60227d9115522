// Numbers, characters and lines in what users give.
#include <gtest/gtest.h>

#include <cstdint>

#include "error_of.hpp"
#include "gradcomp/core/number.hpp"
#include "gradcomp/core/standard_output.hpp"
#include "gradcomp/core/utf8.hpp"

namespace gradcomp {
namespace texts_test {

using test::error_of;

TEST(Number, IsTheWholeText) {
  EXPECT_EQ(to_number<int>("-12"), -12);
  EXPECT_EQ(to_number<double>("2.5e-3"), 2.5e-3);
  EXPECT_EQ(to_number<std::int64_t>("9223372036854775807"), INT64_MAX);
  for (const char* text : {"", "12abc", "abc", " 12", "12 ", "+12", "0x10", "1_000", "1.5", "1e3"}) {
    EXPECT_FALSE(to_number<int>(text)) << text;
  }
  EXPECT_FALSE(to_number<int>("2147483648"));
  EXPECT_FALSE(to_number<std::int64_t>("99999999999999999999"));
  EXPECT_FALSE(to_number<std::uint64_t>("-1"));
  EXPECT_FALSE(to_number<double>("1e400"));
}

TEST(Utf8, RefusesWhatIsNoCharacterAndSaysWhere) {
  // The first and the last code points of two, of three and of four bytes, and those around the surrogates (RFC 3629).
  const std::string good =
      "a\xC2\x80\xDF\xBF\xE0\xA0\x80\xED\x9F\xBF\xEE\x80\x80\xEF\xBF\xBF\xF0\x90\x80\x80\xF4\x8F\xBF\xBF";
  EXPECT_EQ(error_of([&] { require_text("t", good); }), "");
  for (const char* bad :
       {"\xFF", "\xC3", "\xC3(", "\xC0\x80", "\xED\xA0\x80", "\xE0\x80\x80", "\xF4\x90\x80\x80", "\x80"}) {
    EXPECT_EQ(error_of([&] { require_text("t", "ab" + std::string(bad)); }),
              "t is not UTF-8 text: no character begins at byte 2");
  }
  EXPECT_EQ(error_of([] { require_text("t", std::string_view("a\0b\0", 4)); }),
            "t is not UTF-8 text: byte 1 is 0, as in UTF-16 and in binary files");
}

TEST(PrintError, IsOneLineWhateverItQuotes) {
  testing::internal::CaptureStderr();
  print_error("program", "'a\nb\r\x1b[31m\xFF\xC3\xA9\x7F' is wrong");
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "program: error: 'a\\nb\\x0d\\x1b[31m\\xff\xC3\xA9\\x7f' is wrong\n");
}

}  // namespace texts_test
}  // namespace gradcomp
