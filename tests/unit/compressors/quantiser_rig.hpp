#pragma once
// Several ranks of one quantiser in one process, and a statistical test of their decoded values. It needs device memory
// that is host memory.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "decoding.hpp"
#include "gradcomp/core/registry.hpp"

namespace gradcomp::quantisers {

using Floats = std::vector<float>;
using Bytes = std::vector<std::byte>;
using Given = std::map<std::string, std::string>;

inline Span<float> span(Floats& v) { return Span<float>(v.data(), v.size()); }

/// The step of `ranks` ranks: its rounds, the sums with a check that none wraps, and the mean.
struct Rig {
  Rig(const std::string& name, const Given& given, const Layout& bucket, int count = 1)
      : layout(bucket), ranks(count), memories(static_cast<std::size_t>(count)) {
    const Entry& entry = find_entry(name);
    method = entry.make(ParameterValues(name, entry.info.parameters, given));
    for (int r = 0; r < ranks; ++r) states.push_back(method->prepare(layout));
    messages.resize(states.size());
  }

  Source source(std::size_t r, const Floats& gradient) {
    Source s;
    s.count = layout.count();
    s.gradient = gradient.data();
    if (!memories[r].empty()) {
      s.kind = Source::Kind::residual;
      s.memory = memories[r].data();
    }
    return s;
  }

  /// Takes one gradient per rank. Returns an empty vector if the method has diverged.
  Floats step(const std::vector<Floats>& gradients, std::int64_t number = 0) {
    Floats out(gradients[0].size(), 0);
    const bool bytes = method->info().rounds[0] == MessageKind::bytes;
    Faults faults;
    const auto step_of = [&](std::size_t r) -> Step {
      return {source(r, gradients[r]), r == 0 ? span(out) : Span<float>(), context(r, number), faults.counts()};
    };
    for (int round = 0; round < method->rounds(); ++round) {
      for (std::size_t r = 0; r < states.size(); ++r)
        messages[r] = method->produce(Exec(), round, step_of(r), *states[r]);
      Exec().fence();
      if (bytes) break;
      reduce();
      for (std::size_t r = 0; r < states.size(); ++r)
        method->consume(Exec(), round, messages[r], step_of(r), *states[r]);
    }
    if (bytes) {
      for (std::size_t r = 0; r < states.size(); ++r) {
        const Span<const std::byte> payload(messages[r].payload.data(), static_cast<std::size_t>(messages[r].size));
        method->decode_add(Exec(), {payload, context(r, number), 1.0f / static_cast<float>(ranks), faults.counts()},
                           *states[0], span(out));
      }
    } else {
      method->finish(Exec(), step_of(0), *states[0]);
    }
    faults.fetch(Exec());
    return faults.diverged() ? Floats{} : out;
  }
  Floats step(const Floats& gradient, std::int64_t number = 0) { return step(std::vector<Floats>{gradient}, number); }

  Bytes payload(std::size_t r = 0) const {
    return {messages[r].payload.data(), messages[r].payload.data() + messages[r].size};
  }
  void decode(const Bytes& bytes, Floats& out) {
    test::decode_add(*method, Exec(), Span<const std::byte>(bytes.data(), bytes.size()), 1, *states[0], span(out));
  }
  Context context(std::size_t r, std::int64_t number) const { return {7, number, static_cast<int>(r), ranks}; }

  void reduce() {
    const Message& first = messages[0];
    for (index_t i = 0; i < first.count; ++i) {
      if (first.dtype == DType::f32) {
        float most = 0;
        for (const auto& m : messages) most = std::max(most, static_cast<const float*>(m.data)[i]);
        for (const auto& m : messages) static_cast<float*>(m.result)[i] = most;
      } else if (first.dtype == DType::i32) {
        std::int64_t sum = 0;
        for (const auto& m : messages) {
          sum += static_cast<const std::int32_t*>(m.data)[i];
          wrapped = wrapped || sum != static_cast<std::int32_t>(sum);
        }
        for (const auto& m : messages) static_cast<std::int32_t*>(m.result)[i] = static_cast<std::int32_t>(sum);
      } else {
        int sum = 0;
        for (const auto& m : messages) {
          sum += static_cast<const std::int8_t*>(m.data)[i];
          widest = std::max(widest, std::abs(sum));
        }
        for (const auto& m : messages) static_cast<std::int8_t*>(m.result)[i] = static_cast<std::int8_t>(sum);
      }
    }
  }

  Layout layout;
  int ranks, widest = 0;  ///< largest magnitude of a partial sum of bytes; above 127 it would wrap
  bool wrapped = false;   ///< whether a partial sum of 32-bit words left their range
  std::vector<Floats> memories;
  std::unique_ptr<Compressor> method;
  std::vector<std::unique_ptr<State>> states;
  std::vector<Message> messages;
};

inline Floats normal_values(index_t n, unsigned seed, float scale = 1) {
  std::mt19937 engine(seed);
  std::normal_distribution<float> normal;
  Floats values(static_cast<std::size_t>(n));
  for (float& v : values) v = scale * normal(engine);
  return values;
}

inline double norm_of(const Floats& x) {
  double sum = 0;
  for (const float v : x) sum += static_cast<double>(v) * v;
  return std::sqrt(sum);
}
inline double largest_of(const Floats& x) {
  double most = 0;
  for (const float v : x) most = std::max(most, std::abs(static_cast<double>(v)));
  return most;
}

/// Mean and variance of the decoded values of an element; `rare`: the smaller probability of its two outcomes.
struct Expected {
  double mean, variance, rare;
};
/// Mean and variance of stochastic rounding between two neighbouring values.
inline Expected between(double x, double low, double high) {
  const double f = high > low ? (x - low) / (high - low) : 0;
  return {x, (x - low) * (high - x), std::min(f, 1 - f)};
}

/// 4096 trials: every mean within 6 standard errors of the ANALYTIC variance, their squares sum as those of normal
/// variables do, elements without variance are exact; those with fewer than 25 rare events are left out.
inline void expect_moments(Rig& rig, const std::vector<Floats>& x, const std::function<Expected(std::size_t)>& expected,
                           int least) {
  const int trials = 4096;
  const std::size_t n = x[0].size();
  std::vector<double> sum(n, 0);
  Floats first;
  for (int t = 0; t < trials; ++t) {
    const Floats d = rig.step(x, t);
    ASSERT_EQ(d.size(), n);
    for (std::size_t i = 0; i < n; ++i) sum[i] += d[i];
  }
  double squares = 0;
  int counted = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const Expected e = expected(i);
    if (e.variance <= 0) {
      EXPECT_NEAR(sum[i] / trials, e.mean, 1e-6 * std::abs(e.mean)) << i;
      continue;
    }
    if (trials * e.rare < 25) continue;
    const double z = (sum[i] / trials - e.mean) / std::sqrt(e.variance / trials);
    EXPECT_LT(std::abs(z), 6) << i << " mean " << sum[i] / trials << " expected " << e.mean;
    squares += z * z;
    ++counted;
  }
  ASSERT_GE(counted, least);
  EXPECT_LT(std::abs(squares - counted), 6 * std::sqrt(2.0 * counted));
}

/// Every size around a few words of bits, and those around groups and tiles.
inline std::vector<index_t> sizes() {
  std::vector<index_t> list;
  for (index_t n = 0; n <= 130; ++n) list.push_back(n);
  list.insert(list.end(), {511, 513, 1023, 1025, 4095, 4096, 4097, 10007});
  return list;
}

/// Every size alone and between other segments, with its bytes; each element within bound(scale(its segment), element)
/// of what was sent.
inline void expect_sizes(const std::string& name, const Given& given, const std::function<double(const Floats&)>& scale,
                         const std::function<double(double, double)>& bound) {
  for (const index_t n : sizes()) {
    Layout mixed;
    mixed.add("a", {n}).add("empty", {0}).add("b", {7, 3}).add("c", {1}).add("d", {n + 1});
    for (const Layout& layout : {Layout::flat(n), mixed}) {
      Rig rig(name, given, layout);
      const Floats x = normal_values(layout.count(), static_cast<unsigned>(n));
      const Floats d = rig.step(x);
      ASSERT_EQ(d.size(), x.size());
      if (rig.messages[0].kind == MessageKind::bytes) {
        ASSERT_EQ(rig.messages[0].size, rig.method->payload_bytes(layout, 0) + payload_header_bytes);
      }
      for (const auto& segment : layout.segments) {
        if (segment.count == 0) continue;
        const auto first = static_cast<std::size_t>(segment.offset),
                   end = first + static_cast<std::size_t>(segment.count);
        const double size = scale({x.data() + first, x.data() + end});
        for (std::size_t i = first; i < end; ++i) {
          ASSERT_LE(std::abs(static_cast<double>(d[i]) - x[i]), bound(size, std::abs(static_cast<double>(x[i]))))
              << "n " << n << " element " << i << " of " << segment.name;
        }
      }
    }
  }
}

/// What was received and what is kept add up to all gradients.
inline void expect_telescoping(const std::string& name, const Given& given, int ranks = 1) {
  for (const index_t n : {1, 33, 5000}) {
    Rig rig(name, given, Layout::flat(n), ranks);
    std::vector<double> balance(static_cast<std::size_t>(n), 0);
    for (auto& memory : rig.memories) memory.assign(static_cast<std::size_t>(n), 0);
    for (int step = 0; step < 20; ++step) {
      std::vector<Floats> g;
      for (int r = 0; r < ranks; ++r) g.push_back(normal_values(n, static_cast<unsigned>(100 * step + r)));
      const Floats d = rig.step(g, step);
      for (std::size_t i = 0; i < d.size(); ++i) {
        balance[i] -= d[i];
        for (const auto& own : g) balance[i] += static_cast<double>(own[i]) / ranks;
      }
    }
    for (std::size_t i = 0; i < balance.size(); ++i) {
      double kept = 0;
      for (const auto& memory : rig.memories) kept += static_cast<double>(memory[i]) / ranks;
      ASSERT_NEAR(kept, balance[i], 1e-3) << i;
    }
  }
}

/// Zeros decode to +0. Denormal, huge and mixed values decode to finite values of at most `bound` times the largest
/// one.
inline void expect_extremes(const std::string& name, const Given& given, double bound) {
  const float huge = std::numeric_limits<float>::max(), tiny = std::numeric_limits<float>::denorm_min();
  for (const float value : {0.0f, -0.0f, 1.0f, -3e38f, huge, tiny, -1e-40f, 1e-30f}) {
    for (const float other : {1.0f, -1.0f, 0.0f, 0.3f}) {
      Rig rig(name, given, Layout::flat(700));
      Floats x(700, value);
      for (std::size_t i = 0; i < x.size(); i += 5) x[i] *= other;
      const Floats d = rig.step(x);
      ASSERT_EQ(d.size(), x.size());
      for (std::size_t i = 0; i < d.size(); ++i) {
        ASSERT_TRUE(std::isfinite(d[i])) << value << " " << other;
        ASSERT_LE(std::abs(static_cast<double>(d[i])), std::max(bound * std::abs(value), 0x1p-90)) << value;
        if (value == 0) {
          ASSERT_EQ(d[i], 0.0f);
          ASSERT_FALSE(std::signbit(d[i]));
        }
      }
    }
  }
}

/// Truncated payloads, longer ones and ones with a changed byte are refused or decode inside the output. Changes at the
/// positions `bad` must be refused.
inline void expect_hostile(const std::string& name, const Given& given,
                           const std::function<void(Bytes&, index_t)>& spoil) {
  Layout layout;
  layout.add("a", {1500}).add("b", {3});
  Rig rig(name, given, layout);
  rig.step(normal_values(1503, 11));
  const Bytes good = rig.payload();
  Floats out(1503, 0);
  for (std::size_t size = 0; size < good.size(); size += 13)
    EXPECT_THROW(rig.decode({good.begin(), good.begin() + static_cast<std::ptrdiff_t>(size)}, out), Error);
  for (index_t variant = 0; variant < 3; ++variant) {
    Bytes bad = good;
    spoil(bad, variant);
    EXPECT_THROW(rig.decode(bad, out), Error) << variant;
  }
  EXPECT_NO_THROW(rig.decode(good, out));
}

}  // namespace gradcomp::quantisers
