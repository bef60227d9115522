// Image models other than ResNet-20 (model_test.cpp): option B, wide networks, maximum pooling and wide linear layers,
// each in a narrow or shallow variant.
#include <numeric>

#include "gradcomp/nn/networks/resnet.hpp"
#include "gradcomp/nn/networks/vgg.hpp"
#include "gradcomp/nn/optimisers/sgd.hpp"
#include "unit/nn/support.hpp"

namespace gradcomp::nn {
namespace image_models_test {

using test::Mirrored;
using test::random_vector;
using test::same_bits;

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

/// A model with parameters, buffers, gradient and a random batch.
template <class T>
struct Problem {
  Problem(const std::string& which, int extent, int size, int max_batch, Path path = Path::best)
      : model(build<T>(which, extent, max_batch, path)),
        parameters(model->layout().count()),
        buffers(model->buffer_count()),
        gradient(model->layout().count()),
        images(random_vector<T>(size * model->image_size(), 1)),
        labels(size) {
    model->initialise(1, parameters.host(), buffers.host());
    for (int i = 0; i < size; ++i) labels(i) = i * 7 % classes;
  }
  Loss train(const Ready& ready = {}) {
    return model->train_step(Exec(), parameters, buffers, {images, labels}, gradient, ready);
  }

  std::unique_ptr<Model<T>> model;
  Mirrored<T> parameters, buffers, gradient, images;
  Mirrored<std::int32_t> labels;
};

const std::vector<std::string> variants = {"option_b", "four_stages", "vgg"};

TEST(ImageModels, PathsAgreeInDouble) {
  for (const auto& which : variants) {
    Problem<double> portable(which, 16, 9, 9, Path::portable);
    const Loss b = portable.train();
    for (const Path path : {Path::best, Path::device}) {
      Problem<double> other(which, 16, 9, 9, path);
      EXPECT_NEAR(other.train().sum, b.sum, 1e-11 * b.sum) << which;
      const index_t count = other.model->layout().count();
      EXPECT_LT(test::relative_difference(other.gradient, portable.gradient, count), 1e-9) << which;
      EXPECT_LT(test::relative_difference(other.buffers, portable.buffers, other.model->buffer_count()), 1e-11)
          << which;
    }
  }
}

TEST(ImageModels, GradientsAgreeWithDifferences) {
  for (const auto& which : variants) {
    Problem<double> p(which, 8, 6, 6);
    p.train();
    const Mirrored<double> gradient(p.model->layout().count()), buffers(p.model->buffer_count());
    gradient.assign(p.gradient);
    const auto loss = [&] {
      buffers.assign(p.buffers);
      p.model->forward(Exec(), p.parameters, buffers, {p.images, p.labels});
      return p.model->loss(Exec()).mean();
    };
    // An element of every tensor. Steps are so short that hardly any ReLU or maximum changes.
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
      const auto found = p.gradient.now(), expected = whole.gradient.now();
      const auto offset = static_cast<std::size_t>(segments[first].offset);
      EXPECT_TRUE(same_bits(found.data() + offset, expected.data() + offset, found.size() - offset))
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
    roomy.model->forward(Exec(), big.parameters, big.buffers, {big.images, big.labels});
    EXPECT_EQ(exact.train().sum, roomy.train().sum) << which;
    EXPECT_TRUE(same_bits(exact.gradient, roomy.gradient)) << which;
    EXPECT_TRUE(same_bits(exact.buffers, roomy.buffers)) << which;
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
    for (index_t i = 0; i < p.model->buffer_count(); ++i) {
      zeros += p.buffers(i) == 0 ? 1 : 0;
      ones += p.buffers(i) == 1 ? 1 : 0;
    }
    EXPECT_EQ(2 * zeros, p.model->buffer_count()) << which;
    EXPECT_EQ(2 * ones, p.model->buffer_count()) << which;
  }
}

}  // namespace image_models_test
}  // namespace gradcomp::nn
