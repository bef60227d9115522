#pragma once
// Checks that all methods with an estimated threshold share: guards, what every step must keep, and the closed
// loop of many steps with the residual.
#include <functional>
#include <numeric>

#include "unit/compressors/sparse_rig.hpp"

namespace sparse_test {

using Values = std::map<std::string, std::string>;

/// a in the first step with an empty residual: 1 * 0 + 1 * a, which turns -0 into 0.
inline std::vector<float> after_first(std::vector<float> a) {
  for (float& v : a) v += 0.0f;
  return a;
}

inline index_t nonzeros_of(const std::vector<float>& a, const Segment& segment) {
  return std::count_if(a.begin() + segment.offset, a.begin() + segment.offset + segment.count,
                       [](float v) { return v != 0; });
}

inline double total_ratio(const State& state) {
  const auto sum = [](const std::vector<index_t>& x) {
    return static_cast<double>(std::accumulate(x.begin(), x.end(), index_t{0}));
  };
  return sum(state.kept) / sum(state.target);
}

/// The indices of a segment in the message, relative to the bucket.
inline std::vector<std::uint32_t> indices_of(const Decoded& d, const Segment& segment) {
  std::vector<std::uint32_t> own;
  for (const std::uint32_t i : d.indices)
    if (i >= segment.offset && i < segment.offset + segment.count) own.push_back(i);
  return own;
}

/// Nothing that stays is larger than what is sent (equal values apart, where exactly k are wanted).
inline void expect_largest_sent(const std::vector<float>& a, const Segment& segment,
                                const std::vector<std::uint32_t>& sent) {
  std::vector<char> is_sent(static_cast<std::size_t>(segment.count));
  std::int32_t least = 0x7fffffff, most = -1;
  for (const std::uint32_t i : sent) {
    is_sent[static_cast<std::size_t>(i) - static_cast<std::size_t>(segment.offset)] = 1;
    least = std::min(least, bits_of(a[i]));
  }
  for (std::size_t j = 0; j < is_sent.size(); ++j)
    if (is_sent[j] == 0) most = std::max(most, bits_of(a[static_cast<std::size_t>(segment.offset) + j]));
  ASSERT_GE(least, most);
}

/// The number of entries that a method may send of n elements if the target is k and there are more nonzeros.
struct Bounds {
  index_t least, most;
};

/// Nothing is lost, indices ascend and guards hold on hostile input of many sizes; every segment below max(1024, 2 /
/// ratio) exactly, few nonzeros all.
inline void check_guards(const Entry& entry, const Values& options,
                         const std::function<Bounds(index_t k, index_t n)>& bounds, bool largest = true) {
  for (const index_t n : {0, 1, 2, 31, 1023, 1024, 5001, 40000}) {
    Layout layout = Layout::flat(n);
    layout.add("second", {3000});
    for (const auto& name : input_names()) {
      const auto a = make_input(name, layout.count());
      for (const char* ratio : {"0.001", "0.01", "0.5", "1"}) {
        SCOPED_TRACE(name + " n=" + std::to_string(n) + " ratio=" + ratio);
        Values all = options;
        all["ratio"] = ratio;
        Rig rig(entry, all, layout, true);
        rig.produce(a);
        expect_conservation(rig, after_first(a));
        const Decoded d = rig.decoded();
        for (std::size_t s = 0; s < 2; ++s) {
          const Segment& segment = layout.segments[s];
          const index_t k = rig.state->target[s], kept = rig.state->kept[s], some = nonzeros_of(a, segment);
          const Bounds bound = bounds(k, segment.count);
          ASSERT_LE(kept, segment.count);
          if (some <= k) {
            ASSERT_EQ(kept, some);
          } else if (static_cast<double>(segment.count) < std::max(1024.0, 2 / std::stod(ratio))) {
            ASSERT_EQ(indices_of(d, segment), top_k_indices(a, segment.offset, segment.count, k));
          } else {
            ASSERT_GE(kept, bound.least);
            ASSERT_LE(kept, bound.most);
          }
          if (largest) expect_largest_sent(a, segment, indices_of(d, segment));
        }
      }
    }
  }
}

/// Signs and powers of two change neither the set nor, but for the factor, the values.
inline void check_scaling(const Entry& entry, const Values& options) {
  const index_t n = 60000;
  for (const auto& name : {"laplace", "heavy", "sparse"}) {
    const auto a = make_input(name, n);
    Rig rig(entry, options, Layout::flat(n), true);
    rig.produce(a);
    const auto reference = rig.decoded();
    for (const float factor : {-1.0f, 0x1p20f, -0x1p-20f}) {
      std::vector<float> scaled(a);
      for (float& v : scaled) v *= factor;
      Rig other(entry, options, Layout::flat(n), true);
      other.produce(scaled);
      const auto d = other.decoded();
      ASSERT_EQ(d.indices, reference.indices) << name << " factor " << factor;
      for (std::size_t j = 0; j < d.values.size(); ++j) ASSERT_EQ(d.values[j], factor * reference.values[j]);
    }
  }
}

/// Many steps lose nothing.
inline void check_memory(const Entry& entry, const Values& options) {
  Rig rig(entry, options, Layout::flat(20000), true);
  expect_nothing_lost(rig, 40, 60 * 20 * 0x1p-24);
}

/// n Laplace values from a common store, different ones for each `step`. A generator per step would take seconds.
inline const float* laplace_window(index_t n, std::uint64_t step) {
  static const std::vector<float> noise = make_input("laplace", 1000003, 7);
  std::mt19937_64 random(step);
  return noise.data() + random() % (noise.size() - static_cast<std::size_t>(n));
}

/// kept / k of the last 100 steps.
struct ClosedLoop {
  double mean = 0, deviation = 0, largest = 0;
};

/// A closed loop: Laplace gradients with a scale per element, lognormal(sigma), the same in every step; with
/// the residual. Two segments, the second at a thousandth of the scale.
inline ClosedLoop closed_loop(const Entry& entry, const Values& options, double sigma, int steps = 400) {
  Layout layout;
  layout.add("large", {150000}).add("small", {50000});
  const auto n = static_cast<std::size_t>(layout.count());
  std::mt19937_64 random(99);
  std::normal_distribution<double> normal;
  std::vector<float> scale(n), g(n);
  for (std::size_t i = 0; i < n; ++i)
    scale[i] = static_cast<float>(std::exp(sigma * normal(random)) * (i < 150000 ? 1 : 1e-3));
  Rig rig(entry, options, layout, true);
  ClosedLoop loop;
  std::vector<double> ratios;
  for (int step = 0; step < steps; ++step) {
    const float* const noise = laplace_window(layout.count(), static_cast<std::uint64_t>(step));
    for (std::size_t i = 0; i < n; ++i) g[i] = scale[i] * noise[i];
    rig.produce(g, step);
    if (step >= steps - 100) ratios.push_back(total_ratio(*rig.state));
  }
  for (const double r : ratios) {
    loop.mean += r / 100;
    loop.largest = std::max(loop.largest, r);
  }
  for (const double r : ratios) loop.deviation += (r - loop.mean) * (r - loop.mean) / 100;
  loop.deviation = std::sqrt(loop.deviation);
  return loop;
}

}  // namespace sparse_test
