// Losses of the samples of a batch, and what a pass for these losses must not change.
#include <limits>

#include "unit/nn/sample_support.hpp"

namespace gradcomp::nn {
namespace sample_losses_test {

using test::Kind;
using test::Mirrored;
using test::same_bits;
using test::SampleProblem;

TEST(SampleLosses, AreThoseOfTheSamplesAlone) {
  for (const Path path : test::paths) {
    for (const Kind kind : test::kinds) {
      for (const int max_batch : {3, 7}) {
        SampleProblem<double> p(kind, 3, max_batch, path, 0.3);
        std::vector<double> expected;
        for (int j = 0; j < 3; ++j) expected.push_back(p.alone(j).evaluate().mean());
        p.weigh({5, 0, 2}).evaluate();
        const auto losses = p.sample_losses();
        for (int j = 0; j < 3; ++j) {
          const double one = expected[static_cast<std::size_t>(j)];
          EXPECT_NEAR(losses(j), one, 1e-6 * one) << p.name() << " " << j;
        }
        EXPECT_GT(std::abs(losses(0) - losses(1)), 1e-3) << p.name();  // otherwise their order would not matter
      }
    }
  }
}

TEST(SampleLosses, AreWhatTheBatchAveragesAndWeighs) {
  for (const Path path : test::paths) {
    for (const Kind kind : test::kinds) {
      SampleProblem<float> p(kind, 4, 5, path, 0.3);
      const Mirrored<float> buffers(p.model->buffer_count());
      buffers.assign(p.buffers);
      const double mean = p.train().mean();
      const auto plain = p.sample_losses();
      p.buffers.assign(buffers);
      const double weighted = p.weigh({0.5f, 0, 3, 1}).train().mean();
      const auto losses = p.sample_losses();
      EXPECT_TRUE(same_bits(plain, losses)) << p.name();
      EXPECT_NEAR((losses(0) + losses(1) + losses(2) + losses(3)) / 4, mean, 1e-6 * mean) << p.name();
      EXPECT_NEAR((0.5 * losses(0) + 3 * losses(2) + losses(3)) / 4, weighted, 1e-6 * weighted) << p.name();
    }
  }
}

TEST(SampleLosses, LeaveTheTrainingAsItWasGivenACopyOfTheState) {
  for (const Kind kind : test::kinds) {
    SampleProblem<float> plain(kind, 3, 4, Path::best, 0.3), watched(kind, 3, 4, Path::best, 0.3);
    SampleProblem<float> others(kind, 4, 4);  // candidates from another text, in a batch of another size
    for (index_t i = 0; i < index_t(others.images.size()); ++i) others.images(i) = -others.images(i);
    for (index_t i = 0; i < index_t(others.tokens.size()); ++i) others.tokens(i) = (others.tokens(i) + 1) % 11;
    others.restart = true;
    for (int step = 0; step < 3; ++step) {
      const Loss a = plain.train(), b = watched.train();
      EXPECT_EQ(a.sum, b.sum) << plain.name() << " step " << step;
      EXPECT_TRUE(same_bits(plain.gradient, watched.gradient)) << plain.name() << " step " << step;
      const auto before = watched.buffers.now();
      const Mirrored<float> copy(watched.model->buffer_count()), losses(4);
      copy.assign(watched.buffers);
      watched.model->infer(Exec(), watched.parameters, copy, others.batch());
      watched.model->sample_losses(Exec(), losses);
      EXPECT_EQ(watched.buffers.now(), before) << plain.name();
      EXPECT_EQ(same_bits(copy, watched.buffers), !test::has_hidden_state(kind)) << plain.name();
    }
  }
}

TEST(SampleLosses, OfARestartedBatchBeginWithoutAHiddenState) {
  for (const Kind kind : {Kind::lstm, Kind::tied_lstm}) {
    SampleProblem<float> restarted(kind, 3, 3), zero(kind, 3, 3), carried(kind, 3, 3);
    restarted.restart = true;
    zero.buffers.fill(0);
    restarted.evaluate();
    zero.evaluate();
    carried.evaluate();
    EXPECT_TRUE(same_bits(restarted.sample_losses(), zero.sample_losses())) << zero.name();
    EXPECT_FALSE(same_bits(carried.sample_losses(), zero.sample_losses())) << zero.name();
  }
}

TEST(SampleLosses, AreNoNumberWhereALogitIsNone) {
  for (const Path path : test::paths) {
    for (const Kind kind : test::kinds) {
      SampleProblem<float> p(kind, 3, 3, path);
      const float nan = std::numeric_limits<float>::quiet_NaN();
      if (test::has_batch_norm(kind)) continue;  // their ReLUs turn it into zeros; head_test.cpp tests their logits
      if (kind == Kind::tied_lstm) continue;     // all logits depend on its embedding
      if (p.is_text()) {
        for (int i = 0; i < 3 * test::sample_length; ++i) p.tokens(i) = i / test::sample_length;
        const index_t width = p.model->layout().segments[0].shape[1];
        for (index_t i = 0; i < width; ++i) p.parameters(width + i) = nan;  // the word of which sequence 1 consists
      } else {
        p.images(p.model->image_size() + 3) = nan;
      }
      p.evaluate();
      const auto losses = p.sample_losses();
      EXPECT_TRUE(std::isfinite(losses(0)) && std::isnan(losses(1)) && std::isfinite(losses(2)))
          << p.name() << " " << losses(0) << " " << losses(1) << " " << losses(2);
    }
  }
}

TEST(SampleLosses, CountNothingForABadLabelWhichLossReports) {
  for (const Kind kind : test::kinds) {
    SampleProblem<double> p(kind, 2, 2), good(kind, 2, 2);
    const auto each = p.labels_of_each();
    p.labels(each) = -1;  // the first label of sample 1
    p.model->infer(Exec(), p.parameters, p.buffers, p.batch());
    good.model->infer(Exec(), good.parameters, good.buffers, good.batch());
    const auto losses = p.sample_losses(), expected = good.sample_losses();
    EXPECT_EQ(losses(0), expected(0)) << p.name();
    EXPECT_LT(losses(1), expected(1)) << p.name();
    if (each == 1) {
      EXPECT_EQ(losses(1), 0) << p.name();
    }
    EXPECT_THROW(p.model->loss(Exec()), Error) << p.name();
  }
}

TEST(SampleLosses, GoWhereThereIsRoomForExactlyThem) {
  for (const Kind kind : test::kinds) {
    SampleProblem<float> p(kind, 2, 3);
    p.evaluate();
    for (const int room : {0, 1, 3, 2 * test::sample_length}) {
      try {
        p.model->sample_losses(Exec(), Mirrored<float>(room));
        FAIL() << p.name();
      } catch (const Error& error) {
        EXPECT_EQ(error.what(),
                  fmt::format("{}: room for {} sample losses where the last batch had 2 samples", p.name(), room));
      }
    }
    EXPECT_NO_THROW(p.sample_losses());
  }
}

int heard = 0;

TEST(SampleLosses, AskNothingOfTheHost) {
  for (const Kind kind : test::kinds) {
    SampleProblem<float> p(kind, 2, 3);
    p.weigh({1, 2}).evaluate();
    const Mirrored<float> losses(2);
    const Span<float> to = losses;
    heard = 0;
    Kokkos::Tools::Experimental::set_begin_fence_callback([](const char*, std::uint32_t, std::uint64_t*) { ++heard; });
    p.model->sample_losses(Exec(), to);
    const int waits = heard;
    Exec().fence("of the test");
    Kokkos::Tools::Experimental::set_begin_fence_callback(nullptr);
    EXPECT_EQ(waits, 0) << p.name();
    EXPECT_EQ(heard, 1) << p.name();
  }
}

}  // namespace sample_losses_test
}  // namespace gradcomp::nn
