// How result files describe emulated links, what is refused, and how much slower links are if threads share cores.
#include "gradcomp/train/emulated_links.hpp"

#include <gtest/gtest.h>

#include "error_of.hpp"

namespace gradcomp::train {
namespace emulated_links_test {

TEST(ThreadsPerCore, AreTheThreadsOfAllRanksOverTheCoresAndAtLeastOne) {
  EXPECT_EQ(threads_per_core(4, 1, 2), 2);
  EXPECT_EQ(threads_per_core(2, 1, 2), 1);
  EXPECT_EQ(threads_per_core(1, 1, 2), 1) << "half a thread per core is no faster than one";
  EXPECT_EQ(threads_per_core(3, 2, 4), 1.5);
  EXPECT_EQ(threads_per_core(3, 1, 0), 3) << "the operating system does not know its cores";
}

TEST(LinkInfo, NamesOneLinkWithItsRateAndSeveralInTurn) {
  const report::LinkInfo one = link_info({"100Mbit/s,50us", 2});
  EXPECT_EQ(one.kind, "emulated");
  EXPECT_EQ(one.text, "100Mbit/s,50us");
  EXPECT_NEAR(one.rate_mbit_s, 100, 1e-9);
  EXPECT_NEAR(one.latency_us, 50, 1e-9);
  EXPECT_EQ(one.slowed_by, 2);
  const report::LinkInfo two = link_info({"100Mbit/s,1Gbit/s,20us", 1});
  EXPECT_EQ(two.kind, "emulated");
  EXPECT_EQ(two.text, "100Mbit/s,1Gbit/s");
  EXPECT_EQ(two.rate_mbit_s, 0) << "there is no rate of all";
  EXPECT_NEAR(two.latency_us, 20, 1e-9);
}

TEST(CheckLinks, EveryLinkNeedsAsManyStepsAndATargetOneLink) {
  Options options;
  options.link = "100Mbit/s,1Gbit/s";
  options.block = 10;
  options.steps = 30;
  const EmulatedLinks two(options.link, 1), one("1Gbit/s", 1);
  const auto refused = [&](const EmulatedLinks& links) { return test::error_of([&] { check_links(options, links); }); };
  EXPECT_EQ(refused(two),
            "--steps 30 is not allowed with the 2 links of --link 100Mbit/s,1Gbit/s; allowed: multiples of 20 (--block "
            "times links)");
  EXPECT_EQ(refused(one), "");
  options.steps = 40;
  EXPECT_EQ(refused(two), "");
  options.target = "accuracy=0.9";
  EXPECT_EQ(refused(one), "");
  EXPECT_EQ(
      refused(two),
      "--target is not allowed with the several links of --link 100Mbit/s,1Gbit/s: the time to a target would mix "
      "them");
}

}  // namespace emulated_links_test
}  // namespace gradcomp::train
