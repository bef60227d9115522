#include "gradcomp/train/target.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "error_of.hpp"
#include "gradcomp/core/error.hpp"

namespace gradcomp::train {
namespace target_test {

TEST(Target, IsOneOfTheTasksMetric) {
  const Metric accuracy, perplexity(InputShape::Kind::tokens);
  EXPECT_EQ(target_value("accuracy=0.9", accuracy), 0.9);
  EXPECT_EQ(target_value("perplexity=60", perplexity), 60);
  EXPECT_EQ(target_value("", accuracy), std::nullopt);
  for (const char* bad : {"accuracy", "accuracy=", "accuracy=x", "accuracy=0.9x", "accuracy=1.1", "accuracy=0",
                          "accuracy=nan", "loss=1", "=0.5", "perplexity=60", "accuracy=-0.5"}) {
    EXPECT_THROW(target_value(bad, accuracy), Error) << bad;
  }
  for (const char* bad : {"perplexity=0.5", "perplexity=inf", "perplexity=nan", "accuracy=0.9"}) {
    EXPECT_THROW(target_value(bad, perplexity), Error) << bad;
  }
  EXPECT_EQ(target_value("accuracy=1", accuracy), 1);
  EXPECT_EQ(target_value("perplexity=1", perplexity), 1);
  const auto message = [](const char* text, const Metric& metric) {
    return gradcomp::test::error_of([&] { target_value(text, metric); });
  };
  EXPECT_EQ(message("loss=1", accuracy),
            "--target loss=1 is not allowed; allowed: accuracy=X or perplexity=X, such as accuracy=0.90");
  EXPECT_EQ(message("accuracy=0.9", perplexity),
            "--target accuracy=0.9 is not allowed: the quality of this task is measured as perplexity");
  EXPECT_EQ(message("accuracy=2", accuracy), "--target accuracy=2 is not allowed; allowed: an accuracy in (0, 1]");
  EXPECT_EQ(message("perplexity=0", perplexity),
            "--target perplexity=0 is not allowed; allowed: a perplexity of 1 or more");
}

}  // namespace target_test
}  // namespace gradcomp::train
