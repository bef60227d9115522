#include "gradcomp/core/nearest.hpp"

#include <gtest/gtest.h>

#include "error_of.hpp"
#include "gradcomp/core/options.hpp"
#include "gradcomp/core/spec_part.hpp"

namespace gradcomp {
namespace nearest_test {

const std::vector<std::string> methods = {"qsgd", "top_k", "random_k", "powersgd", "signum", "sign"};

TEST(NearestName, CaseHyphensAndUnderscoresDoNotCount) {
  EXPECT_EQ(nearest_name("topk", methods), "top_k");
  EXPECT_EQ(nearest_name("Top-K", methods), "top_k");
  EXPECT_EQ(nearest_name("POWER_SGD", methods), "powersgd");
  EXPECT_EQ(nearest_name("TopK", {"Tops", "top_k"}), "top_k");  // although a single edit gives "Tops"
}

TEST(NearestName, OneEditInThreeLettersIsAllowedAndAlwaysOne) {
  EXPECT_EQ(nearest_name("qsg", methods), "qsgd");           // a letter is missing
  EXPECT_EQ(nearest_name("qsggd", methods), "qsgd");         // one is too much
  EXPECT_EQ(nearest_name("qsgf", methods), "qsgd");          // one is another
  EXPECT_EQ(nearest_name("qsxf", methods), "");              // two of four letters
  EXPECT_EQ(nearest_name("rundum_k", methods), "random_k");  // two of eight
  EXPECT_EQ(nearest_name("rundomi", methods), "");           // three of seven
  EXPECT_EQ(nearest_name("ab", {"xb"}), "xb");
  EXPECT_EQ(nearest_name("ab", {"xy"}), "");
}

TEST(NearestName, TheFewestEditsWinAndTheFirstOfEquals) {
  EXPECT_EQ(nearest_name("signom", methods), "signum");
  EXPECT_EQ(nearest_name("abc", {"abx", "aby"}), "abx");
}

TEST(NearestName, NothingIsNearToNothing) {
  EXPECT_EQ(nearest_name("", methods), "");
  EXPECT_EQ(nearest_name("_", {"__", "a"}), "");
  EXPECT_EQ(nearest_name("topk", {}), "");
}

TEST(NearestName, StandsInErrorsInFrontOfWhatIsAllowed) {
  struct Named {
    std::string name;
  };
  const std::vector<Named> entries = {{"ring"}, {"tree"}};
  EXPECT_EQ(test::error_of([&] { find_by_name(entries, "reducer", "rings"); }),
            "unknown reducer 'rings'; did you mean 'ring'? allowed: ring, tree");
  EXPECT_EQ(test::error_of([&] { find_by_name(entries, "reducer", "star"); }),
            "unknown reducer 'star'; allowed: ring, tree");
  const std::vector<Parameter> declared = {Parameter::real("ratio", "0.01", 0, 1, ""),
                                           Parameter::choice("norm", "l2", {"l2", "max"}, "")};
  EXPECT_EQ(test::error_of([&] { ParameterValues("owner", declared, {{"Ratio", "1"}}); }),
            "owner: unknown option 'Ratio'; did you mean 'ratio'? allowed: ratio, norm");
  EXPECT_EQ(test::error_of([&] { ParameterValues("owner", declared, {{"norm", "L2"}}); }),
            "owner: norm=L2 is not allowed; did you mean 'l2'? norm is one of l2, max");
}

}  // namespace nearest_test
}  // namespace gradcomp
