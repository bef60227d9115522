#pragma once
// Workers of PowerSGD in one process, and matrices that they send.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "gradcomp/core/registry.hpp"

namespace powersgd_test {

using namespace gradcomp;

using Floats = std::vector<float>;
using Given = std::map<std::string, std::string>;

inline Span<float> span(Floats& v) { return Span<float>(v.data(), v.size()); }

inline Floats normal_values(index_t n, unsigned seed, float scale = 1) {
  std::mt19937 engine(seed);
  std::normal_distribution<float> normal;
  Floats values(static_cast<std::size_t>(n));
  for (float& v : values) v = scale * normal(engine);
  return values;
}

/// W workers in one process. Their messages are summed in rank order.
struct Workers {
  Workers(const Layout& layout, const Given& given, int workers, bool feedback = true)
      : bucket(layout), ranks(workers), memory(static_cast<std::size_t>(workers)) {
    const Entry entry = find_entry("powersgd");
    method = entry.make(ParameterValues("powersgd", entry.info.parameters, given));
    for (int w = 0; w < workers; ++w) {
      states.push_back(method->prepare(layout));
      if (feedback) memory[static_cast<std::size_t>(w)].assign(static_cast<std::size_t>(layout.count()), 0);
    }
  }

  Workers(const Layout& layout, int rank, int workers, bool feedback = true)
      : Workers(layout, Given{{"rank", std::to_string(rank)}}, workers, feedback) {}

  Source source(int w, const Floats& gradient) {
    Floats& r = memory[static_cast<std::size_t>(w)];
    return {r.empty() ? Source::Kind::none : Source::Kind::residual,
            bucket.count(),
            gradient.data(),
            r.empty() ? nullptr : r.data(),
            1,
            1};
  }

  /// Makes one step. Returns whether it counts, on which all workers must agree; `out` is then the mean.
  bool step(const std::vector<Floats>& gradients) {
    const Exec exec;
    std::vector<Faults> faults(states.size());
    std::vector<Floats> results(states.size(), Floats(static_cast<std::size_t>(bucket.count()), -1));
    const auto step_of = [&](int w) -> Step {
      const auto i = static_cast<std::size_t>(w);
      return {source(w, gradients[i]), span(results[i]), {17, number, w, ranks}, faults[i].counts()};
    };
    for (int round = 0; round < method->rounds(); ++round) {
      std::vector<Message> sent(static_cast<std::size_t>(ranks));
      for (int w = 0; w < ranks; ++w) {
        const auto i = static_cast<std::size_t>(w);
        sent[i] = method->produce(exec, round, step_of(w), *states[i]);
      }
      exec.fence();
      Floats sum(static_cast<std::size_t>(sent[0].count), 0);
      bytes = round == 0 ? sent[0].bytes() : bytes + sent[0].bytes();
      for (const auto& m : sent) {
        for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += static_cast<const float*>(m.data)[i];
      }
      for (int w = 0; w < ranks; ++w) {
        const auto i = static_cast<std::size_t>(w);
        std::copy(sum.begin(), sum.end(), static_cast<float*>(sent[i].result));
        method->consume(exec, round, sent[i], step_of(w), *states[i]);
      }
      rounds[static_cast<std::size_t>(round)] = sent;
    }
    bool good = true;
    for (int w = 0; w < ranks; ++w) {
      const auto i = static_cast<std::size_t>(w);
      method->finish(exec, step_of(w), *states[i]);
      faults[i].fetch(exec);
      const bool ok = !faults[i].diverged();
      EXPECT_TRUE(w == 0 || ok == good);
      good = ok;
      if (ok) {
        EXPECT_EQ(results[i], results[0]);
      }
    }
    out = results[0];
    ++number;
    return good;
  }

  Layout bucket;
  int ranks;
  std::int64_t number = 0;
  std::unique_ptr<Compressor> method;
  std::vector<std::unique_ptr<State>> states;
  std::vector<Floats> memory;
  Floats out;
  std::vector<Message> rounds[2];  ///< messages of all ranks in each round; every rank has its own result
  index_t bytes = 0;
};

inline double squared(const Floats& x) {
  double sum = 0;
  for (const float v : x) sum += static_cast<double>(v) * v;
  return sum;
}
inline double squared_distance(const Floats& x, const Floats& y) {
  double sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i)
    sum += (static_cast<double>(x[i]) - y[i]) * (static_cast<double>(x[i]) - y[i]);
  return sum;
}

inline Layout matrix(index_t rows, index_t columns) {
  Layout layout;
  layout.add("m", {rows, columns});
  return layout;
}

/// A rows x columns matrix of rank r with singular values near 1, d, d^2, ...
inline Floats low_rank_matrix(index_t rows, index_t columns, int r, double decay, unsigned seed) {
  const Floats u = normal_values(rows * r, seed), v = normal_values(columns * r, seed + 1);
  Floats m(static_cast<std::size_t>(rows * columns), 0);
  for (index_t i = 0; i < rows; ++i) {
    for (index_t j = 0; j < columns; ++j) {
      double sum = 0;
      for (int k = 0; k < r; ++k) {
        sum += std::pow(decay, k) * u[static_cast<std::size_t>(i * r + k)] * v[static_cast<std::size_t>(j * r + k)];
      }
      m[static_cast<std::size_t>(i * columns + j)] = static_cast<float>(sum);
    }
  }
  return m;
}

}  // namespace powersgd_test
