// Feedback builds the source that its options describe, over a memory that starts at zero and persists.
#include "gradcomp/feedback/feedback.hpp"

#include <gtest/gtest.h>

#include "gradcomp/core/error.hpp"

namespace gradcomp {
namespace {

Options options(const std::map<std::string, std::string>& given, const std::string& default_kind = "none") {
  return Options("test", feedback_parameters(default_kind), given);
}

TEST(Feedback, NoneHasNoMemory) {
  const Feedback feedback(options({}), 4);
  const Vector<float> gradient("gradient", 4);
  const Source source = feedback.source(gradient);
  EXPECT_EQ(source.kind, Source::Kind::none);
  EXPECT_FALSE(source.has_memory());
  EXPECT_EQ(source.count, 4);
  EXPECT_TRUE(feedback.persistent().empty());
}

TEST(Feedback, ResidualKeepsWhatWasNotSent) {
  const Feedback feedback(options({{"feedback.beta", "0.5"}, {"feedback.gamma", "2"}}, "residual"), 2);
  const Vector<float> gradient("gradient", 2);
  const Vector<float> seen("seen", 2);
  Kokkos::deep_copy(gradient, 3.0f);
  for (int step = 0; step < 2; ++step) {  // element 0: decoded as 4 every time; element 1: never sent
    const Source source = feedback.source(gradient);
    Kokkos::parallel_for(
        "step", Kokkos::RangePolicy<Exec>(0, 2), KOKKOS_LAMBDA(const index_t i) {
          bool good = true;
          seen(i) = source.first(i, good);
          if (i == 0) source.sent(i, source.load(i), 4.0f);
        });
  }
  const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), seen);
  EXPECT_EQ(host(0), 0.5f * (6.0f - 4.0f) + 6.0f);
  EXPECT_EQ(host(1), 0.5f * 6.0f + 6.0f);
  const auto views = feedback.persistent();
  ASSERT_EQ(views.size(), 1u);
  EXPECT_EQ(views[0].name, "residual");
  EXPECT_EQ(views[0].bytes, 8);
  EXPECT_FALSE(views[0].on_host);
  EXPECT_EQ(views[0].data, feedback.source(gradient).memory);
}

TEST(Feedback, RefusesUnknownKinds) {
  EXPECT_THROW(options({{"feedback", "hope"}}), Error);
  EXPECT_THROW(options({{"feedback.beta", "2"}}), Error);
}

}  // namespace
}  // namespace gradcomp
