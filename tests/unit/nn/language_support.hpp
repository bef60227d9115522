#pragma once
// A model with its arrays and a random text, for the tests of language models.
#include <memory>
#include <utility>
#include <vector>

#include "gradcomp/core/error.hpp"
#include "gradcomp/nn/make_model.hpp"
#include "gradcomp/nn/optimisers/sgd.hpp"
#include "unit/nn/support.hpp"

namespace gradcomp::nn::test {

/// A model of nn/models/ for a sequence of `length` tokens.
inline std::unique_ptr<Model<float>> language_model(const std::string& name, int vocabulary, int length) {
  return make_model<float>(name, InputShape{InputShape::Kind::tokens, 0, 0, 0, length, 0, vocabulary}, 1);
}

template <class T>
struct TextProblem {
  /// A text of `sequences` x `length` tokens.
  TextProblem(std::unique_ptr<Model<T>> of, int sequences, int length)
      : model(std::move(of)),
        parameters(model->layout().count()),
        gradient(model->layout().count()),
        buffers(model->buffer_count()),
        tokens(sequences * length),
        labels(sequences * length) {
    model->initialise(5, parameters.host(), buffers.host());
    buffers.fill(0);
    for (int i = 0; i < sequences * length; ++i) {
      tokens(i) = static_cast<int>(uniform(3, 1, i) * model->classes()) % model->classes();
      labels(i) = static_cast<int>(uniform(3, 2, i) * model->classes()) % model->classes();
    }
  }

  /// Changes all tensors and the hidden state, so that each of them has an effect.
  TextProblem& perturb(double scale) {
    for (index_t i = 0; i < model->layout().count(); ++i) parameters(i) += static_cast<T>(scale * normal(9, 1, i));
    for (index_t i = 0; i < model->buffer_count(); ++i) buffers(i) = static_cast<T>(normal(9, 2, i));
    return *this;
  }

  Batch<T> batch() const { return {{}, labels, tokens, restart, key}; }
  Loss train(const Ready& ready = {}) {
    return model->train_step(Exec(), parameters, buffers, batch(), gradient, ready);
  }
  Loss evaluate() { return model->evaluate(Exec(), parameters, buffers, batch()); }

  std::unique_ptr<Model<T>> model;
  Mirrored<T> parameters, gradient, buffers;
  Mirrored<std::int32_t> tokens, labels;
  bool restart = false;
  std::uint64_t key = 77;
};

/// Compares derivatives by elements of every tensor with central differences of the mean loss, with the same buffers
/// each time.
inline void expect_model_gradient(TextProblem<double>& p) {
  const Mirrored<double> buffers(p.model->buffer_count()), gradient(p.model->layout().count());
  buffers.assign(p.buffers);
  p.train();
  gradient.assign(p.gradient);
  const auto loss = [&] {
    p.buffers.assign(buffers);
    p.model->forward(Exec(), p.parameters, p.buffers, p.batch());
    return p.model->loss(Exec()).mean();
  };
  for (const Segment& segment : p.model->layout().segments) {
    expect_gradient(p.parameters.from(segment.offset), gradient.from(segment.offset), segment.count, loss,
                    segment.name.c_str());
  }
}

/// make(sequences, max_batch) returns a model with its text. The result for a small batch must not depend on max_batch.
template <class Make>
void expect_small_batches_alone(const Make& make) {
  auto exact = make(3, 3), roomy = make(3, 8), big = make(8, 8);
  big.perturb(1);
  roomy.model->train_step(Exec(), big.parameters, big.buffers, big.batch(), big.gradient);
  EXPECT_EQ(exact.train().sum, roomy.train().sum);
  EXPECT_TRUE(same_bits(exact.gradient, roomy.gradient));
}

/// p and `whole` are equal. Checks that gradients behind each reported segment are final, that reports come as
/// `expected`, and that backward can be repeated.
inline void expect_reports(TextProblem<float>& p, TextProblem<float>& whole, const std::vector<std::size_t>& expected) {
  whole.train();
  std::vector<std::size_t> calls;
  p.train([&](std::size_t first) {
    const auto found = p.gradient.now(), complete = whole.gradient.now();
    const auto offset = static_cast<std::size_t>(p.model->layout().segments[first].offset);
    EXPECT_TRUE(same_bits(found.data() + offset, complete.data() + offset, found.size() - offset));
    calls.push_back(first);
  });
  EXPECT_EQ(calls, expected);
  whole.model->backward(Exec(), whole.parameters, p.gradient, {});
  EXPECT_TRUE(same_bits(p.gradient, whole.gradient));
}

/// p: 4 sequences of 9 tokens of 11 words. Replaces its text by one that follows a rule, which it must learn in `steps`
/// steps.
inline void expect_learning(TextProblem<float>& p, double rate, int steps) {
  for (index_t i = 0; i < 36; ++i) {
    p.tokens(i) = static_cast<int>(i * i % 11);
    p.labels(i) = static_cast<int>((i + 1) * (i + 1) % 11);
  }
  Sgd<float> sgd(p.model->layout(), {});
  EXPECT_NEAR(p.train().mean(), std::log(11.0), 0.2);
  for (int step = 0; step < steps; ++step) {
    sgd.step(Exec(), rate, p.parameters, p.gradient);
    p.train();
  }
  EXPECT_LT(p.model->loss(Exec()).mean(), 0.5);
}

}  // namespace gradcomp::nn::test
