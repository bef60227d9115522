#pragma once
// What the tests of language models share: a model with its arrays and a random text.
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "gradcomp/core/error.hpp"
#include "gradcomp/nn/model.hpp"
#include "gradcomp/nn/sgd.hpp"
#include "unit/nn/support.hpp"

namespace gradcomp::nn::test {

template <class T>
struct TextProblem {
  /// A text of `sequences` x `length` tokens.
  TextProblem(std::unique_ptr<Model<T>> of, int sequences, int length)
      : model(std::move(of)),
        parameters("", model->layout().count()),
        gradient("", model->layout().count()),
        state("", model->state_count()),
        tokens("", sequences * length),
        labels("", sequences * length) {
    model->initialise(5, HostSpan<T>(parameters.data(), parameters.extent(0)),
                      HostSpan<T>(state.data(), state.extent(0)));
    Kokkos::deep_copy(state, 0);
    for (int i = 0; i < sequences * length; ++i) {
      tokens(i) = static_cast<int>(uniform(3, 1, i) * model->classes()) % model->classes();
      labels(i) = static_cast<int>(uniform(3, 2, i) * model->classes()) % model->classes();
    }
  }

  /// Makes every tensor matter, and the hidden state.
  TextProblem& perturb(double scale) {
    for (std::size_t i = 0; i < parameters.extent(0); ++i) {
      parameters(i) += static_cast<T>(scale * normal(9, 1, static_cast<index_t>(i)));
    }
    for (std::size_t i = 0; i < state.extent(0); ++i) state(i) = static_cast<T>(normal(9, 2, static_cast<index_t>(i)));
    return *this;
  }

  Batch<T> batch() const { return {{}, labels, tokens, restart, key}; }
  Loss train(const Ready& ready = {}) { return model->train_step(Exec(), parameters, state, batch(), gradient, ready); }
  Loss evaluate() { return model->evaluate(Exec(), parameters, state, batch()); }

  std::unique_ptr<Model<T>> model;
  Vector<T> parameters, gradient, state;
  Vector<std::int32_t> tokens, labels;
  bool restart = false;
  std::uint64_t key = 77;
};

template <class V>
bool same_bits(const V& a, const V& b) {
  return a.extent(0) == b.extent(0) && std::memcmp(a.data(), b.data(), a.extent(0) * sizeof(a(0))) == 0;
}

/// Derivatives of every tensor's elements by central differences of the mean loss, from the same state each time.
inline void expect_model_gradient(TextProblem<double>& p) {
  const Vector<double> state("", p.state.extent(0)), gradient("", p.gradient.extent(0));
  Kokkos::deep_copy(state, p.state);
  p.train();
  Kokkos::deep_copy(gradient, p.gradient);
  const auto loss = [&] {
    Kokkos::deep_copy(p.state, state);
    p.model->forward(Exec(), p.parameters, p.state, p.batch());
    return p.model->loss(Exec()).mean();
  };
  for (const Segment& segment : p.model->layout().segments) {
    const auto parameters = subspan<double>(p.parameters, segment.offset, segment.count);
    const auto of = subspan<double>(gradient, segment.offset, segment.count);
    expect_gradient(parameters, of, segment.count, loss, segment.name.c_str());
  }
}

/// make(sequences, max_batch) is a model with its text: a small batch must not depend on how many more it has room for.
template <class Make>
void expect_small_batches_alone(const Make& make) {
  auto exact = make(3, 3), roomy = make(3, 8), big = make(8, 8);
  big.perturb(1);
  roomy.model->train_step(Exec(), big.parameters, big.state, big.batch(), big.gradient);
  EXPECT_EQ(exact.train().sum, roomy.train().sum);
  EXPECT_TRUE(same_bits(exact.gradient, roomy.gradient));
}

/// p and `whole` are equal. Gradients behind each reported segment are final, reports come as `expected`, and backward
/// uses nothing up.
inline void expect_reports(TextProblem<float>& p, TextProblem<float>& whole, const std::vector<std::size_t>& expected) {
  whole.train();
  std::vector<std::size_t> calls;
  p.train([&](std::size_t first) {
    Exec().fence();
    const index_t offset = p.model->layout().segments[first].offset;
    EXPECT_EQ(std::memcmp(p.gradient.data() + offset, whole.gradient.data() + offset,
                          (p.gradient.extent(0) - static_cast<std::size_t>(offset)) * sizeof(float)),
              0);
    calls.push_back(first);
  });
  EXPECT_EQ(calls, expected);
  whole.model->backward(Exec(), whole.parameters, p.gradient, {});
  EXPECT_TRUE(same_bits(p.gradient, whole.gradient));
}

/// p: 4 sequences of 9 tokens of 11 words. Its text becomes one with a rule, which `steps` steps must teach it.
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
