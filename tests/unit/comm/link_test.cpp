// --link: which texts are accepted, what they mean, and how a link is printed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gradcomp/comm/throttled.hpp"

namespace gradcomp {
namespace link_test {

TEST(Link, ParsesRatesAndLatencies) {
  struct Case {
    const char* text;
    double rate, latency;
  };
  for (const Case& c : {Case{"1Gbit/s,50us", 1e9, 50e-6}, Case{"100Mbit/s", 1e8, 0}, Case{"2.5kbit/s,1ms", 2500, 1e-3},
                        Case{"8bit/s,0us", 8, 0}, Case{"0.5Gbit/s,0.5ms", 5e8, 5e-4}}) {
    const Link link = parse_link(c.text);
    EXPECT_DOUBLE_EQ(link.bits_per_second, c.rate) << c.text;
    EXPECT_DOUBLE_EQ(link.latency_seconds, c.latency) << c.text;
    EXPECT_DOUBLE_EQ(parse_link(link.text()).bits_per_second, c.rate) << link.text();
    EXPECT_DOUBLE_EQ(parse_link(link.text()).latency_seconds, c.latency) << link.text();
  }
  EXPECT_EQ(parse_link("1000Mbit/s,0.05ms").text(), "1Gbit/s,50us");
}

TEST(Link, SeveralRatesShareALatency) {
  const auto links = parse_links("100Mbit/s,1Gbit/s,10Gbit/s,50us");
  ASSERT_EQ(links.size(), 3U);
  EXPECT_EQ(links[0].text(), "100Mbit/s,50us");
  EXPECT_EQ(links[2].text(), "10Gbit/s,50us");
  EXPECT_EQ(parse_links("1Mbit/s,2Mbit/s")[1].text(), "2Mbit/s");
  EXPECT_EQ(slowed(links[0], 4).text(), "25Mbit/s,200us");
  for (const char* text : {"1Gbit/s,1000Mbit/s", "1Gbit/s,50us,2Gbit/s", "1Gbit/s,2Gbit/s,", "", ",", "50us"}) {
    EXPECT_THROW(parse_links(text), Error) << text;
  }
  EXPECT_THROW(parse_link("1Gbit/s,2Gbit/s"), Error) << "parse_link() takes one link";
}

TEST(Link, RefusesTheRestAndListsWhatIsAllowed) {
  for (const char* text : {"",           "fast",           "1",           "1Gbit",           "1GB/s",
                           "-1Gbit/s",   "0Mbit/s",        "1Gbit/s,",    "1Gbit/s,50",      "1Gbit/s,-1us",
                           "1Gbit/s,1s", "1Gbit/s,50us,2", " 1Gbit/s",    "nanGbit/s",       "infbit/s",
                           "1e999bit/s", "1e-300bit/s",    "1e308Gbit/s", "1Gbit/s,1e300ms", "1Gbit/s,1e9ms"}) {
    try {
      parse_link(text);
      ADD_FAILURE() << "accepted '" << text << "'";
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), testing::HasSubstr(std::string("link '") + text + "'"));
      EXPECT_THAT(error.what(), testing::HasSubstr("1 bit/s to 1000000 Gbit/s"));
      EXPECT_THAT(error.what(), testing::HasSubstr("(us, ms)"));
    }
  }
}

TEST(Link, TimeIsLatencyPerStepPlusBytesOverRate) {
  const Link link = parse_link("8Mbit/s,1ms");
  EXPECT_DOUBLE_EQ(link.seconds(1000000, 0), 1.0);
  EXPECT_DOUBLE_EQ(link.seconds(0, 3), 3e-3);
  EXPECT_DOUBLE_EQ(link.seconds(500000, 2), 0.502);
}

}  // namespace link_test
}  // namespace gradcomp
