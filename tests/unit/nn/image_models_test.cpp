// Image models beyond ResNet-20 (model_test.cpp): option B, wide networks, maximum pooling and wide linear layers, each
// as a narrow or shallow variant.
#include <cstring>
#include <numeric>

#include "gradcomp/nn/resnet.hpp"
#include "gradcomp/nn/sgd.hpp"
#include "gradcomp/nn/vgg.hpp"
#include "unit/nn/support.hpp"

namespace gradcomp::nn {
namespace {

using test::random_vector;

constexpr int classes = 10;

template <class T>
std::unique_ptr<Model<T>> build(const std::string& which, int extent, int max_batch, Path path) {
  if (which == "option_b") {
    const ResNetSpec spec{.blocks = 2, .projections = true};
    return std::make_unique<ResNet<T>>(which, spec, extent, extent, max_batch, classes, path);
  }
  if (which == "four_stages") {
    const ResNetSpec spec{.stages = 4, .blocks = 1, .channels = 16, .projections = true};
    return std::make_unique<ResNet<T>>(which, spec, extent, extent, max_batch, classes, path);
  }
  return std::make_unique<Vgg<T>>(which, VggSpec{{{16}, {32, 32}, {48}}, 40}, extent, extent, max_batch, classes, path);
}

/// A model with parameters, state, gradient and a random batch.
template <class T>
struct Problem {
  Problem(const std::string& which, int extent, int size, int max_batch, Path path = Path::best)
      : model(build<T>(which, extent, max_batch, path)),
        parameters("", model->layout().count()),
        state("", model->state_count()),
        gradient("", model->layout().count()),
        images(random_vector<T>(size * model->image_size(), 1)),
        labels("", size) {
    model->initialise(1, HostSpan<T>(parameters.data(), parameters.extent(0)),
                      HostSpan<T>(state.data(), state.extent(0)));
    for (int i = 0; i < size; ++i) labels(i) = i * 7 % classes;
  }
  Loss train(const Ready& ready = {}) {
    return model->train_step(Exec(), parameters, state, {images, labels}, gradient, ready);
  }

  std::unique_ptr<Model<T>> model;
  Vector<T> parameters, state, gradient, images;
  Vector<std::int32_t> labels;
};

const std::vector<std::string> variants = {"option_b", "four_stages", "vgg"};

TEST(ImageModels, PathsAgreeInDouble) {
  for (const auto& which : variants) {
    Problem<double> host(which, 16, 9, 9), portable(which, 16, 9, 9, Path::portable);
    const Loss a = host.train(), b = portable.train();
    EXPECT_NEAR(a.sum, b.sum, 1e-11 * b.sum) << which;
    EXPECT_LT(test::relative_difference(host.gradient, portable.gradient, host.gradient.extent(0)), 1e-9) << which;
    EXPECT_LT(test::relative_difference(host.state, portable.state, host.state.extent(0)), 1e-11) << which;
  }
}

TEST(ImageModels, GradientsAgreeWithDifferences) {
  for (const auto& which : variants) {
    Problem<double> p(which, 8, 6, 6);
    p.train();
    Vector<double> gradient("", p.gradient.extent(0)), state("", p.state.extent(0));
    Kokkos::deep_copy(gradient, p.gradient);
    const auto loss = [&] {
      Kokkos::deep_copy(state, p.state);
      p.model->forward(Exec(), p.parameters, state, {p.images, p.labels});
      return p.model->loss(Exec()).mean();
    };
    // an element of every tensor; steps so short that hardly a ReLU or a maximum changes sides
    index_t off = 0;
    for (const Segment& segment : p.model->layout().segments) {
      const index_t i = segment.offset + segment.count / 3;
      const double expected = test::central_difference(p.parameters(i), loss, 1e-6);
      if (std::abs(gradient(i) - expected) > 1e-5 * (1 + std::abs(expected))) {
        ++off;
        std::cerr << which << " " << segment.name << " " << gradient(i) << " " << expected << "\n";
      }
    }
    EXPECT_EQ(off, 0) << which;
  }
}

TEST(ImageModels, ReportGradientsAsTheyComplete) {
  for (const auto& which : variants) {
    Problem<float> p(which, 8, 4, 4), whole(which, 8, 4, 4);
    whole.train();
    std::vector<std::size_t> calls;
    const auto& segments = p.model->layout().segments;
    p.train([&](std::size_t first) {
      Exec().fence();
      const index_t offset = segments[first].offset;
      EXPECT_EQ(std::memcmp(p.gradient.data() + offset, whole.gradient.data() + offset,
                            (p.gradient.extent(0) - offset) * sizeof(float)),
                0)
          << which << " " << segments[first].name;
      calls.push_back(first);
    });
    EXPECT_TRUE(std::is_sorted(calls.rbegin(), calls.rend())) << which;
    EXPECT_EQ(calls.back(), 0u);
    std::size_t matrices = 0;
    for (const Segment& segment : segments) matrices += segment.is_matrix() ? 1 : 0;
    EXPECT_EQ(calls.size(), matrices) << which;
  }
}

TEST(ImageModels, SmallBatchesDoNotSeeTheRestOfTheWorkspace) {
  for (const auto& which : variants) {
    Problem<float> exact(which, 8, 3, 3), roomy(which, 8, 3, 11), big(which, 8, 11, 11);
    roomy.model->forward(Exec(), big.parameters, big.state, {big.images, big.labels});
    EXPECT_EQ(exact.train().sum, roomy.train().sum) << which;
    EXPECT_EQ(std::memcmp(exact.gradient.data(), roomy.gradient.data(), exact.gradient.extent(0) * sizeof(float)), 0);
    EXPECT_EQ(std::memcmp(exact.state.data(), roomy.state.data(), exact.state.extent(0) * sizeof(float)), 0);
  }
}

TEST(ImageModels, TrainASmallProblem) {
  for (const auto& which : variants) {
    Problem<float> p(which, 8, 16, 16);
    Sgd<float> sgd(p.model->layout(), {});
    const double first = p.train().mean();
    for (int step = 0; step < 60; ++step) {
      sgd.step(Exec(), 0.02, p.parameters, p.gradient);
      p.train();
    }
    const Loss last = p.model->loss(Exec());
    EXPECT_GT(first, 1.5) << which;
    EXPECT_LT(last.mean(), 0.1) << which;
    EXPECT_EQ(last.correct, 16) << which;
  }
}

TEST(ImageModels, StartFromTheRunningStatisticsOfNothing) {
  for (const auto& which : variants) {
    Problem<float> p(which, 8, 1, 1);
    index_t zeros = 0, ones = 0;
    for (std::size_t i = 0; i < p.state.extent(0); ++i) {
      zeros += p.state(i) == 0 ? 1 : 0;
      ones += p.state(i) == 1 ? 1 : 0;
    }
    EXPECT_EQ(2 * zeros, p.model->state_count()) << which;
    EXPECT_EQ(2 * ones, p.model->state_count()) << which;
  }
}

}  // namespace
}  // namespace gradcomp::nn
