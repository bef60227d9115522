#include "gradcomp/core/registry.hpp"
#include "unit/compressors/quanta_rig.hpp"

namespace sparse_test {
namespace adaptive_threshold_test {

Rig rig_of(const Layout& layout, std::map<std::string, std::string> options, bool residual = true) {
  return Rig(find_entry("adaptive_threshold"), options, layout, residual);
}

std::vector<float> thresholds_of(Rig& rig) {
  const auto views = rig.state->memories();
  EXPECT_EQ(views.size(), 1u);
  EXPECT_TRUE(views[0].on_host);
  std::vector<float> taus(static_cast<std::size_t>(views[0].bytes) / sizeof(float));
  std::memcpy(taus.data(), views[0].data, static_cast<std::size_t>(views[0].bytes));
  return taus;
}

/// The method as a serial loop: the thresholds, memories and sent entries of every step.
struct Reference {
  Reference(const Layout& bucket, double low_ratio, double high_ratio, double start)
      : layout(bucket),
        low(low_ratio),
        high(high_ratio),
        memory(static_cast<std::size_t>(bucket.count())),
        taus(bucket.segments.size(), static_cast<float>(start)) {}

  /// Does one step. `used`: its thresholds.
  void step(const std::vector<float>& g) {
    used = taus;
    indices.clear();
    for (std::size_t s = 0; s < taus.size(); ++s) {
      const auto& segment = layout.segments[s];
      index_t kept = 0, nonzeros = 0;
      for (index_t j = segment.offset; j < segment.offset + segment.count; ++j) {
        const auto i = static_cast<std::size_t>(j);
        memory[i] += g[i];
        nonzeros += memory[i] != 0 ? 1 : 0;
        if (!(std::fabs(memory[i]) > taus[s])) continue;
        memory[i] -= std::copysign(taus[s], memory[i]);
        indices.push_back(static_cast<std::uint32_t>(i));
        ++kept;
      }
      const double n = static_cast<double>(segment.count), k = static_cast<double>(kept);
      if (nonzeros == 0) continue;
      if (k < low * n) taus[s] = static_cast<float>(static_cast<double>(taus[s]) * std::pow(0.5, 0.05));
      if (kept > 1 && k > high * n) taus[s] = static_cast<float>(static_cast<double>(taus[s]) / std::pow(0.5, 0.05));
    }
  }

  Layout layout;
  double low, high;
  std::vector<float> memory, taus, used;
  std::vector<std::uint32_t> indices;
};

TEST(AdaptiveThresholdMethod, MatchesASerialReference) {
  for (const index_t n : {0, 1, 31, 9001}) {
    const Layout layout = mixed_layout(n);
    for (const auto& name : {"gauss", "heavy", "levels", "zeros", "one_nonzero"}) {
      SCOPED_TRACE(std::string(name) + " n=" + std::to_string(n));
      Rig rig = rig_of(layout, {{"initial", "0.5"}, {"ratio_min", "0.005"}, {"ratio_max", "0.02"}});
      Reference reference(layout, 0.005, 0.02, 0.5);
      for (int step = 0; step < 5; ++step) {
        const auto g = make_input(name, layout.count(), static_cast<std::uint32_t>(step));
        rig.produce(g, step);
        reference.step(g);
        const Quanta q = quanta_of(rig, layout.segments.size(), false);
        ASSERT_EQ(q.indices, reference.indices);
        for (std::size_t s = 0; s < q.taus.size(); ++s) {
          if (q.taus[s] == 0) continue;  // a segment without any value so far has no threshold
          ASSERT_FLOAT_EQ(q.taus[s], reference.used[s]);
        }
        const auto rest = rig.residual();
        for (std::size_t i = 0; i < rest.size(); ++i)
          ASSERT_NEAR(rest[i], reference.memory[i], 1e-5 * (1 + std::fabs(reference.memory[i])));
        for (std::size_t i = 0; i < rest.size(); ++i)
          reference.memory[i] = rest[i];  // otherwise rounding errors would add up over steps
      }
    }
  }
}

TEST(AdaptiveThresholdMethod, DensityReturnsAfterTheScaleChanged) {
  const index_t n = 10000;
  const auto values = make_input("laplace", n);
  for (const char* initial : {"0", "0.0001", "1000"}) {
    Rig rig = rig_of(Layout::flat(n), {{"initial", initial}});
    index_t kept = 0;
    for (int step = 0; step < 1000; ++step) {
      std::vector<float> g(values);  // one draw, which is rotated, and scaled down once
      std::rotate(g.begin(), g.begin() + step * 977 % n, g.end());
      for (float& v : g) v *= step < 500 ? 1.0f : 0.01f;
      rig.produce(g, step);
      ASSERT_EQ(rig.state->target[0], 0);
      kept += rig.state->kept[0];
      if (step % 500 == 449) kept = 0;
      if (step % 500 != 499) continue;
      const double density = static_cast<double>(kept) / static_cast<double>(50 * n);
      EXPECT_GE(density, 1e-4) << "initial " << initial << " step " << step;
      EXPECT_LE(density, 1.1e-2) << "initial " << initial << " step " << step;
    }
  }
}

TEST(AdaptiveThresholdMethod, FirstThresholdIsFitted) {
  const index_t n = 100000;
  for (const float scale : {1.0f, 0x1p-20f}) {
    Rig rig = rig_of(Layout::flat(n), {});
    auto g = make_input("laplace", n);
    for (float& v : g) v *= scale;
    rig.produce(g);
    EXPECT_NEAR(thresholds_of(rig)[0], static_cast<double>(scale) * std::log(1000.0),
                0.02 * static_cast<double>(scale));
    EXPECT_NEAR(static_cast<double>(rig.state->kept[0]), 100, 50);
  }
}

TEST(AdaptiveThresholdMethod, SegmentsAdaptAloneAndZerosChangeNothing) {
  const Layout layout = Layout{}.add("large", {5000}).add("zeros", {5000}).add("one", {1}).add("small", {5000});
  Rig rig = rig_of(layout, {{"initial", "1"}});
  std::vector<float> g(static_cast<std::size_t>(layout.count()));
  for (std::size_t i = 0; i < 5000; ++i) g[i] = 100;         // all kept: rises
  for (std::size_t i = 10001; i < 15001; ++i) g[i] = 1e-6f;  // none kept: falls
  g[10000] = 5;                                              // one entry, kept: stays
  rig.produce(g);
  const auto taus = thresholds_of(rig);
  EXPECT_FLOAT_EQ(taus[0], 1.0f / 0.9659363f);
  EXPECT_EQ(taus[1], 0);
  EXPECT_EQ(taus[2], 1);
  EXPECT_FLOAT_EQ(taus[3], 0.9659363f);
}

TEST(AdaptiveThresholdMethod, NonFiniteGradientAdaptsNothing) {
  Rig rig = rig_of(mixed_layout(5000), {});
  auto g = make_input("gauss", rig.layout.count());
  rig.produce(g);
  const auto taus = thresholds_of(rig);
  g[700] = std::numeric_limits<float>::quiet_NaN();
  rig.produce(g, 1);
  EXPECT_EQ(thresholds_of(rig), taus);
}

TEST(AdaptiveThresholdMethod, RefusesBoundsInTheWrongOrder) {
  const Entry entry = find_entry("adaptive_threshold");
  EXPECT_THROW(entry.make(ParameterValues("adaptive_threshold", entry.info.parameters, {{"ratio_min", "0.1"}})), Error);
}

}  // namespace adaptive_threshold_test
}  // namespace sparse_test
