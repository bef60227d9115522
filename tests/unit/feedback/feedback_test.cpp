// Feedback builds the source that its options describe, over memories that start at zero and persist.
#include "gradcomp/feedback/feedback.hpp"

#include <gtest/gtest.h>

#include <array>

#include "copies.hpp"
#include "gradcomp/core/error.hpp"
#include "gradcomp/kernels/lanes/source_rows.hpp"

namespace gradcomp {
namespace feedback_test {

using test::to_device;
using test::to_host;
using Values = std::vector<float>;

ParameterValues options(const std::map<std::string, std::string>& given, const std::string& default_kind = "none") {
  Info info;
  info.feedback = default_kind;
  info.feedbacks = {"none", "residual", "momentum_correction", "ef21"};
  return ParameterValues("test", feedback_parameters(info), given);
}

/// One step that sends `sent[i]` for the elements where it is not NaN; returns a. `rows`: through the row functions.
Values step(const Feedback& feedback, const Values& gradient, const Values& sent, bool rows) {
  const auto n = static_cast<index_t>(gradient.size());
  const Vector<float> g = to_device(gradient), decoded = to_device(sent), seen("a", gradient.size());
  const Source source = feedback.source(Exec(), g, 1);
  if (rows) {
    kernels::for_warps(
        "first", Exec(), 1, KOKKOS_LAMBDA(const kernels::Warp& warp, index_t) {
          kernels::Lanes<float> a;
          kernels::Lanes<std::int32_t> bad;
          warp.each([&](int l) { bad[l] = 0; });
          kernels::accumulate_row(warp, source, 0, static_cast<int>(n), a, bad);
          kernels::store_row(warp, seen.data(), static_cast<int>(n), a);
        });
  } else {
    Kokkos::parallel_for(
        "first", IndexRange(0, n), KOKKOS_LAMBDA(const index_t i) {
          bool good = true;
          seen(i) = source.accumulate(i, good);
        });
  }
  Kokkos::parallel_for(
      "sent", IndexRange(0, n), KOKKOS_LAMBDA(const index_t i) {
        if (Source::is_finite(decoded(i))) source.sent(i, source.load(i), decoded(i));
      });
  return to_host(seen.data(), n);
}

/// A function of its own: nvcc takes no device lambda in the body of a test.
void drop(const Source& source, float value) {
  Kokkos::parallel_for("returned", IndexRange(0, 1), KOKKOS_LAMBDA(const index_t i) { source.returned(i, value); });
}

constexpr float none = std::numeric_limits<float>::quiet_NaN();
constexpr float infinity = std::numeric_limits<float>::infinity();

Values memory_of(const Feedback& feedback, std::size_t which) {
  const MemoryView view = feedback.memories().at(which);
  return to_host(static_cast<const float*>(view.data), view.bytes / 4);
}

TEST(Feedback, NoneHasNoMemory) {
  const Feedback feedback(options({}), 4);
  const Vector<float> gradient("gradient", 4);
  const Source source = feedback.source(Exec(), gradient, 1);
  EXPECT_EQ(source.kind, Source::Kind::none);
  EXPECT_FALSE(source.has_memory());
  EXPECT_EQ(source.count, 4);
  EXPECT_TRUE(feedback.memories().empty());
}

TEST(Feedback, ResidualKeepsWhatWasNotSent) {
  for (const bool rows : {false, true}) {
    const Feedback feedback(options({{"feedback.beta", "0.5"}, {"feedback.gamma", "2"}}, "residual"), 2);
    EXPECT_EQ(step(feedback, {3, 3}, {4, none}, rows), (Values{6, 6}));
    EXPECT_EQ(memory_of(feedback, 0), (Values{2, 6}));
    EXPECT_EQ(step(feedback, {3, 3}, {none, none}, rows), (Values{0.5f * 2 + 6, 0.5f * 6 + 6}));
    const auto views = feedback.memories();
    ASSERT_EQ(views.size(), 1u);
    EXPECT_EQ(views[0].path(), "residual");
    EXPECT_EQ(views[0].role, Role::residual);
    EXPECT_EQ(views[0].bytes, 8);
    EXPECT_FALSE(views[0].on_host);
  }
}

// by hand, m = 0.5: u = m u + g; a = v + u; v = a - decoded; masked: u = 0
TEST(Feedback, MomentumCorrectionOfDgc) {
  for (const bool rows : {false, true}) {
    const Feedback feedback(options({{"feedback", "momentum_correction"}, {"feedback.momentum", "0.5"}}), 3);
    EXPECT_EQ(step(feedback, {8, 8, infinity}, {8, none, none}, rows), (Values{8, 8, 0}));
    EXPECT_EQ(memory_of(feedback, 0), (Values{0, 8, 0}));
    EXPECT_EQ(memory_of(feedback, 1), (Values{0, 8, 0}));  // masked where sent
    EXPECT_EQ(step(feedback, {8, 8, 2}, {none, none, none}, rows), (Values{8, 8 + (4 + 8), 2}));
    EXPECT_EQ(step(feedback, {infinity, 0, 0}, {none, 26, none}, rows), (Values{8, 20 + 6, 2 + 1}));
    EXPECT_EQ(memory_of(feedback, 0), (Values{8, 0, 3}));
    EXPECT_EQ(memory_of(feedback, 1), (Values{8, 0, 1}));  // a bad gradient leaves both memories as they were
  }
}

TEST(Feedback, NesterovMomentumWithoutMasking) {
  for (const bool rows : {false, true}) {
    const Feedback feedback(options({{"feedback", "momentum_correction"},
                                     {"feedback.momentum", "0.5"},
                                     {"feedback.nesterov", "on"},
                                     {"feedback.masking", "off"}}),
                            1);
    EXPECT_EQ(step(feedback, {8}, {12}, rows), (Values{4 + 8}));  // u = 0.5 (0 + 8), a = 0 + u + g
    EXPECT_EQ(memory_of(feedback, 1), (Values{4}));
    EXPECT_EQ(step(feedback, {8}, {none}, rows), (Values{6 + 8}));
  }
}

// h follows the gradient by what was sent, and the estimate is the sum of all means
TEST(Feedback, Ef21SendsDifferences) {
  for (const bool rows : {false, true}) {
    const Feedback feedback(options({{"feedback", "ef21"}}), 3);
    EXPECT_EQ(step(feedback, {4, 1, 2}, {3, none, none}, rows), (Values{4, 1, 2}));
    EXPECT_EQ(step(feedback, {4, 5, infinity}, {none, 5, none}, rows), (Values{1, 5, 0}));
    EXPECT_EQ(memory_of(feedback, 0), (Values{3, 5, 0}));
    const Vector<float> out("out", 3);
    for (const float mean : {3.0f, -1.0f}) {
      Kokkos::deep_copy(out, mean);
      feedback.follow_mean(Exec(), out);
    }
    EXPECT_EQ(to_host(out.data(), 3), (Values{2, 2, 2}));
  }
}

TEST(Feedback, Ef21FollowsARunningMean) {
  for (const bool rows : {false, true}) {
    const Feedback feedback(options({{"feedback", "ef21"}, {"feedback.eta", "0.5"}}), 1);
    EXPECT_EQ(step(feedback, {8}, {4}, rows), (Values{4}));     // mean 4
    EXPECT_EQ(step(feedback, {8}, {none}, rows), (Values{2}));  // mean 6, h 4
  }
}

TEST(Feedback, ReturnsWhatTheExchangeDropped) {
  for (const auto& [kind, expected] : std::array<std::pair<const char*, float>, 3>{
           {{"residual", 7.0f}, {"momentum_correction", 7.0f}, {"ef21", 0.0f}}}) {
    const Feedback feedback(options({{"feedback", kind}}), 1);
    step(feedback, {7}, {7}, false);
    const Vector<float> gradient("gradient", 1);
    const Source source = feedback.source(Exec(), gradient, 1);
    drop(source, 7.0f);
    EXPECT_EQ(memory_of(feedback, 0), Values{expected}) << kind;
  }
}

TEST(Feedback, ClipsToTheNormSharedByTheRanks) {
  const Feedback feedback(options({{"feedback", "residual"}, {"feedback.clip", "10"}}), 2);
  const auto seen = [&](float x, int ranks) {
    const Vector<float> gradient("gradient", 2);
    Kokkos::deep_copy(gradient, x);
    const Exec exec;
    const Source source = feedback.source(exec, gradient, ranks);
    const float clipped = to_host(source.gradient, 2)[1];
    EXPECT_TRUE(!(std::abs(x) > 0) || to_host(gradient.data(), 2)[1] == x) << "the gradient itself stays";
    return clipped;
  };
  EXPECT_EQ(seen(5, 1), 5);  // norm 7.07
  EXPECT_NEAR(seen(10, 1), 100 / std::sqrt(200.0), 1e-6);
  EXPECT_NEAR(seen(10, 4), 50 / std::sqrt(200.0), 1e-6);
  EXPECT_FALSE(Source::is_finite(seen(infinity, 4))) << "the method must see it";
  EXPECT_EQ(seen(0, 4), 0);
}

TEST(Feedback, RefusesWhatDoesNotGoTogether) {
  EXPECT_THROW(options({{"feedback", "hope"}}), Error);
  EXPECT_THROW(options({{"feedback.beta", "2"}}), Error);
  EXPECT_THROW(Feedback(options({{"feedback.clip", "1"}}), 1), Error);
}

}  // namespace feedback_test
}  // namespace gradcomp
