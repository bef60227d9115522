// Checks the list of cases. If a method, a value of an option or a composition were missing there, nothing would test
// it, and nobody would notice.
#include <gmock/gmock.h>

#include <algorithm>
#include <set>

#include "conformance/cases.hpp"
#include "gradcomp/compressors/composition/composition.hpp"

namespace gradcomp::conformance {
namespace specs_test {

/// Combinations that their methods refuse when they are parsed.
const std::set<std::string> known_refusals = {
    "adaptive_threshold:ratio_min=1",  // above the default of ratio_max
};

/// Values that the suite gives to a parameter besides the default.
std::size_t other_values(const Parameter& p) {
  if (p.type == Parameter::Type::choice) return p.choices.size() - 1;
  const double value = std::stod(p.default_value), least = p.open_low ? p.low + 1e-3 * (p.high - p.low) : p.low;
  return static_cast<std::size_t>((value != least ? 1 : 0) + (value != p.high ? 1 : 0));
}

std::size_t count_prefix(const Specs& specs, const std::string& prefix) {
  const auto has = [&](const std::string& spec) {
    return spec.starts_with(prefix) && spec.find('+') == std::string::npos &&
           spec.find(':', prefix.size()) == std::string::npos;
  };
  const auto refused = std::count_if(specs.refused.begin(), specs.refused.end(),
                                     [&](const auto& refusal) { return has(refusal.first); });
  return static_cast<std::size_t>(std::count_if(specs.run.begin(), specs.run.end(), has) + refused);
}

TEST(Registry, EveryValueOfEveryOptionIsRun) {
  const Specs specs = all_specs();
  std::set<std::string> shared;
  for (const auto& entry : all_entries()) {
    EXPECT_EQ(std::count(specs.run.begin(), specs.run.end(), entry.info.name), 1) << entry.info.name;
    for (const auto& p : entry.info.parameters) {
      if (p.shared && !shared.insert(p.name).second) continue;
      const std::string prefix = entry.info.name + ":" + p.name + "=";
      EXPECT_EQ(count_prefix(specs, prefix), other_values(p)) << prefix;
    }
  }
}

TEST(Registry, OnlyKnownCombinationsAreRefused) {
  const Specs specs = all_specs();
  std::set<std::string> refused;
  for (const auto& [spec, reason] : specs.refused) {
    refused.insert(spec);
    EXPECT_FALSE(reason.empty()) << spec;
  }
  EXPECT_EQ(refused, known_refusals);
}

TEST(Registry, EveryValueCoderIsInAComposition) {
  const Specs specs = all_specs();
  for (const std::string& name : split_words(compressors::value_coder_names(), ',')) {
    const std::string stage = "+" + name.substr(name.find_first_not_of(' '));
    EXPECT_TRUE(std::any_of(specs.run.begin(), specs.run.end(), [&](const std::string& spec) {
      return spec.find(stage) != std::string::npos;
    })) << stage;
  }
}

TEST(Registry, EverySpecIsInstantiated) {
  std::set<std::string> found, expected;
  const auto& unit = *testing::UnitTest::GetInstance();
  for (int s = 0; s < unit.total_test_suite_count(); ++s) {
    const auto& suite = *unit.GetTestSuite(s);
    if (std::string(suite.name()) != "Registry/Conformance") continue;
    for (int t = 0; t < suite.total_test_count(); ++t) found.insert(suite.GetTestInfo(t)->value_param());
  }
  for (const std::string& spec : all_specs().run) expected.insert(testing::PrintToString(spec));
  EXPECT_EQ(found, expected);
}

}  // namespace specs_test
}  // namespace gradcomp::conformance
