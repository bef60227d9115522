#include "gradcomp/train/contender.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "error_of.hpp"
#include "gradcomp/method/spec.hpp"

namespace gradcomp::train {
namespace contender_test {

TEST(Contender, OnlyControlsWithoutOptionsHaveTheirRoles) {
  Options options;
  using Role = Contender::Role;
  const auto all = train::contenders(
      options, parse_methods("fp32,fp16:label=half,bf16,no_exchange,fp32:lr=1,fp16:strategy=synchronous,"
                             "bf16:rounding=stochastic,top_k:label=bf16"));
  std::vector<Role> roles;
  for (const auto& c : all) roles.push_back(c.role);
  EXPECT_THAT(roles, testing::ElementsAre(Role::fp32, Role::fp16, Role::bf16, Role::bound, Role::method, Role::method,
                                          Role::method, Role::method));
}

TEST(Contender, TheControlThatAccumulatesComesLast) {
  Options options;
  options.accumulate = 4;
  const auto control = [&] { return train::contenders(options, parse_methods("fp32,top_k")).back(); };
  EXPECT_EQ(train::contenders(options, parse_methods("fp32,top_k")).size(), 3U);
  EXPECT_EQ(control().spec.label, "fp32:accumulate=4");
  EXPECT_EQ(control().spec.text, "fp32:strategy=accumulate:strategy.every=4");
  EXPECT_EQ(control().learning_rate, 0.05);
  EXPECT_EQ(control().role, Contender::Role::method);
  options.strategy = "synchronous";
  EXPECT_EQ(control().spec.text, "fp32:strategy=accumulate:strategy.every=4:strategy.overlap=off");
  options.strategy = "no_such";
  EXPECT_THAT(gradcomp::test::error_of(control), testing::HasSubstr("no_such"));
  options.strategy = "overlapped";
  options.sampler = "no_such";
  EXPECT_THAT(gradcomp::test::error_of(control), testing::HasSubstr("no_such"));
}

}  // namespace contender_test
}  // namespace gradcomp::train
