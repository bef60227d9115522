#include "gradcomp/compressors/detail/sparse/sampled.hpp"
#include "gradcomp/compressors/detail/sparse/sparsifier.hpp"
#include "gradcomp/core/registry.hpp"
#include "gradcomp/feedback/feedback.hpp"
#include "unit/compressors/threshold_checks.hpp"

namespace sparse_test {
namespace dgc_test {

const Entry entry = find_entry("dgc");

TEST(Dgc, SamplesAreThoseOfTheAuthorsCode) {  // (n, d) -> (stride, samples, rank), k = ceil(d n)
  const auto expect = [](index_t n, double d, index_t stride, index_t samples, index_t rank) {
    const auto plan = compressors::dgc_sample(n, d, 0.01, 2, false);
    EXPECT_EQ(plan.stride, stride) << n << " " << d;
    EXPECT_EQ(plan.count, samples) << n << " " << d;
    EXPECT_EQ(plan.rank, rank) << n << " " << d;
  };
  expect(1000000, 0.001, 97, 10309, 11);
  expect(100000, 0.001, 49, 2040, 3);
  expect(1000000, 0.01, 97, 10309, 104);
  expect(2000, 0.001, 1, 2000, 2);
  expect(1999, 0.001, 1, 1999, 2);
  EXPECT_EQ(compressors::dgc_sample(150000, 0.001, 0.01, 20, false).stride, 1);
  EXPECT_EQ(compressors::dgc_sample(150000, 0.001, 0.01, 20, true).stride, 7);
  for (const index_t n : {0, 1, 2, 31, 1025, 65537, 3000001}) {
    for (const double d : {0.0001, 0.001, 0.3, 1.0}) {
      for (const index_t rank : {2, 20}) {
        const auto plan = compressors::dgc_sample(n, d, 0.01, rank, rank == 20);
        EXPECT_LE(plan.count * plan.stride, n);
        EXPECT_GE(static_cast<double>(plan.count), std::min(static_cast<double>(n), static_cast<double>(rank) / d));
        EXPECT_LE(plan.rank, plan.count);
      }
    }
  }
}

/// Rounds a value. This is needed because tests are compiled with contraction, and the library is not.
float product(float a, float b) {
  volatile float p = a * b;
  return p;
}

/// One rank of the algorithm, serially: the paper's steps with the authors' loop of repairs.
struct Reference {
  Layout layout;
  double ratio;
  bool paper;
  float momentum = 0.9f;
  bool nesterov = false, masking = true;
  double clip = 0;
  bool vectors_whole = true;
  std::vector<float> u = {}, v = {};

  bool is_whole(const Segment& segment) const { return vectors_whole && segment.shape.size() <= 1; }

  std::vector<std::uint32_t> select(const Segment& segment, std::int64_t step, double density) const {
    const index_t n = segment.count, k = std::min(n, static_cast<index_t>(std::ceil(density * static_cast<double>(n))));
    const index_t some = nonzeros_of(v, segment);
    const auto at = [&](index_t i) { return std::fabs(v[static_cast<std::size_t>(segment.offset + i)]); };
    std::vector<std::uint32_t> chosen;
    const auto all_from = [&](float least) {
      chosen.clear();
      for (index_t i = 0; i < n; ++i)
        if (at(i) >= least) chosen.push_back(static_cast<std::uint32_t>(segment.offset + i));
    };
    if (some <= k || is_whole(segment)) {
      all_from(std::numeric_limits<float>::denorm_min());
      return chosen;
    }
    const auto exact = top_k_indices(v, segment.offset, n, k);
    if (static_cast<double>(n) < std::max(1024.0, 2 / density)) return exact;
    const double size = static_cast<double>(n), few = (paper ? 2 : 20) / density;
    index_t stride = 1;
    if (size > std::ceil(few)) {
      const double wanted = std::max(std::ceil(0.01 * size), std::ceil(few));
      stride = static_cast<index_t>(std::ceil(size / wanted / 32)) * 32 + 1;
      while (std::floor(size / static_cast<double>(stride)) < wanted) stride -= paper ? 8 : 2;
    }
    std::vector<float> sample;
    const index_t start = kernels::random_start(stride, 0, segment.id, step, 0);
    for (index_t j = 0; j < n / stride; ++j) sample.push_back(at(start + j * stride));
    std::sort(sample.begin(), sample.end(), std::greater<>());
    float t = sample[static_cast<std::size_t>(std::ceil(static_cast<double>(sample.size()) * density)) - 1];
    all_from(t);
    for (int repair = 0; repair < 10; ++repair) {
      const double count = static_cast<double>(chosen.size()), wanted = static_cast<double>(k);
      if (count > 1.3 * wanted) return exact;
      if (count >= 0.8 * wanted) break;
      t *= 0.8f;
      all_from(t);
    }
    const double count = static_cast<double>(chosen.size()), wanted = static_cast<double>(k);
    if (count > 1.3 * wanted || (!paper && count < 0.8 * wanted)) return exact;
    if (paper && count > wanted) chosen.resize(static_cast<std::size_t>(k));
    return chosen;
  }

  std::vector<std::uint32_t> step(const std::vector<float>& g, std::int64_t number, double density) {
    double norm = 0;
    for (const float x : g) norm += static_cast<double>(x) * static_cast<double>(x);
    norm = std::sqrt(norm);
    const float scale = clip > 0 && norm > clip ? static_cast<float>(clip / norm) : 1.0f;
    for (std::size_t i = 0; i < g.size(); ++i) {
      const float gi = product(scale, g[i]);
      if (nesterov) {
        u[i] = product(momentum, u[i] + gi);
        v[i] = v[i] + (u[i] + gi);
      } else {
        u[i] = product(momentum, u[i]) + gi;
        v[i] = v[i] + u[i];
      }
    }
    std::vector<std::uint32_t> sent;
    for (const auto& segment : layout.segments) {
      const auto part = select(segment, number, density);
      sent.insert(sent.end(), part.begin(), part.end());
      for (const std::uint32_t i : part) {
        v[i] = 0;
        if (masking && !is_whole(segment)) u[i] = 0;
      }
    }
    return sent;
  }
};

/// Compares values, up to rounding by the order of additions in the norm of a clipped gradient.
void expect_memory(const MemoryView& view, const std::string& name, const std::vector<float>& expected, bool bitwise) {
  ASSERT_EQ(view.path(), name);
  const auto values = to_host(static_cast<const float*>(view.data), expected.size());
  for (std::size_t i = 0; i < values.size(); ++i)
    ASSERT_NEAR(values[i], expected[i], bitwise ? 0 : 1e-5f * std::fabs(expected[i]) + 1e-6f) << name << " " << i;
}

void check_steps(const Values& own, const Values& feedback_options, Reference reference, bool warmup = false) {
  Layout layout;
  layout.add("large", {100, 200}).add("bias", {100}).add("empty", {0}).add("fc", {30, 100});
  reference.layout = layout;
  const auto n = static_cast<std::size_t>(layout.count());
  reference.u.assign(n, 0);
  reference.v.assign(n, 0);
  Values all = feedback_options;
  const Feedback feedback(ParameterValues("dgc", feedback_parameters(entry.info), all), layout.count());
  Rig rig(entry, own, layout, false);
  for (int step = 0; step < 10; ++step) {
    SCOPED_TRACE(step);
    auto g = make_input("laplace", layout.count(), static_cast<std::uint32_t>(step + 1));
    to_device(g, rig.gradient);
    rig.source = feedback.source(Exec(), rig.gradient, 1);
    rig.produce(g, step);
    const double quarter = std::pow(0.25, step / 2 + 1);  // five stages of two steps each
    const auto sent = reference.step(g, step, warmup ? std::max(reference.ratio, quarter) : reference.ratio);
    ASSERT_EQ(rig.decoded().indices, sent);
    const auto views = feedback.memories();
    ASSERT_EQ(views.size(), 2u);
    expect_memory(views[0], "velocity_sum", reference.v, reference.clip == 0);
    expect_memory(views[1], "velocity", reference.u, reference.clip == 0);
  }
}

TEST(Dgc, TenStepsMatchASerialReference) {
  EXPECT_EQ(entry.info.feedback, "momentum_correction");
  for (const bool paper : {true, false}) {
    const std::string variant = paper ? "paper" : "fixed";
    for (const double ratio : {0.002, 0.01, 0.1}) {
      SCOPED_TRACE(variant + " " + std::to_string(ratio));
      const Values own = {{"variant", variant}, {"ratio", std::to_string(ratio)}};
      check_steps(own, {}, {{}, ratio, paper});
      Reference nesterov{{}, ratio, paper, 0.5f, true};
      check_steps(own, {{"feedback.nesterov", "on"}, {"feedback.momentum", "0.5"}}, nesterov);
      Reference unmasked{{}, ratio, paper, 0.9f, false, false};
      check_steps(own, {{"feedback.masking", "off"}}, unmasked);
      Reference clipped{{}, ratio, paper, 0.9f, false, true, 30};
      check_steps(own, {{"feedback.clip", "30"}}, clipped);
      Values all = own;
      all["vectors"] = "compressed";
      check_steps(all, {}, {{}, ratio, paper, 0.9f, false, true, 0, false});
    }
    const Values warm = {{"variant", variant}, {"ratio", "0.01"}, {"warmup", "quarters"}, {"warmup.steps", "10"}};
    check_steps(warm, {}, {{}, 0.01, paper}, true);
  }
}

TEST(Dgc, TargetIsKnownBeforeTheFirstStepAndIsTheCeiling) {
  Layout layout;
  layout.add("a", {1500}).add("empty", {0}).add("b", {2000}).add("scalar", {1});
  const std::vector<index_t> expected = {2, 0, 2, 1};
  Rig rig(entry, {{"vectors", "compressed"}}, layout, true);
  EXPECT_EQ(rig.state->target, expected);
  rig.produce(make_input("gauss", layout.count()));
  EXPECT_EQ(rig.state->target, expected);
  Rig whole(entry, {}, layout, true);
  EXPECT_EQ(whole.state->target, (std::vector<index_t>{1500, 0, 2000, 1}));
  Rig exact(find_entry("top_k"), {{"ratio", "0.001"}}, layout, true);
  EXPECT_EQ(exact.state->target, (std::vector<index_t>{1, 0, 2, 1}));
}

TEST(Dgc, VectorsAreSentWholeAndTrainWithPlainMomentum) {
  Layout layout;
  layout.add("matrix", {100, 50}).add("bias", {3});
  const Feedback feedback(ParameterValues("dgc", feedback_parameters(entry.info), {}), layout.count());
  Rig rig(entry, {{"ratio", "0.01"}}, layout, false);
  const auto bias_sent = [&](const std::vector<float>& bias, std::int64_t step) {
    auto g = make_input("laplace", layout.count(), static_cast<std::uint32_t>(step + 1));
    std::copy(bias.begin(), bias.end(), g.begin() + 5000);
    to_device(g, rig.gradient);
    rig.source = feedback.source(Exec(), rig.gradient, 1);
    rig.produce(g, step);
    const Decoded decoded = rig.decoded();
    std::vector<float> sent(3, 0);
    for (std::size_t i = 0; i < decoded.indices.size(); ++i)
      if (decoded.indices[i] >= 5000) sent[decoded.indices[i] - 5000] = decoded.values[i];
    return sent;
  };
  EXPECT_EQ(bias_sent({1, -2, 0}, 0), (std::vector<float>{1, -2, 0}));
  EXPECT_EQ(bias_sent({0, 1, 4}, 1), (std::vector<float>{0.9f, product(0.9f, -2) + 1, 4}));
  EXPECT_LE(rig.state->kept[0], 65);
  EXPECT_FALSE(layout.fused().segments[0].is_tensor);
  Rig bucket(entry, {{"ratio", "0.01"}}, layout.fused(), false);
  EXPECT_EQ(bucket.state->target, (std::vector<index_t>{51}));
}

TEST(Dgc, RawDeviationFallsWithTheRankOfTheThreshold) {  // .30 at n = 1e6 and d = .001; at least rank 20: .22
  const index_t n = 1000000;
  const Vector<float> a("a", static_cast<std::size_t>(n));
  for (const index_t least : {2, 20}) {
    const auto plan = compressors::dgc_sample(n, 0.001, 0.01, least, least == 20);
    kernels::SampledRank sampled(Layout::flat(n), {plan.count});
    const auto x = make_input("laplace", n);
    to_device(x, a);
    std::vector<std::int32_t> magnitudes;
    for (const float v : x) magnitudes.push_back(bits_of(v));
    std::nth_element(magnitudes.begin(), magnitudes.begin() + 4999, magnitudes.end(), std::greater<>());
    magnitudes.resize(5000);
    double squares = 0;
    for (index_t start = 0; start < plan.stride; ++start) {
      const Exec exec;
      sampled.run(exec, a.data(), {{start, plan.stride, plan.count, plan.rank}}, nullptr, device_is_host);
      exec.fence();
      kernels::SegmentSearch goal;
      Kokkos::deep_copy(HostSpan<kernels::SegmentSearch>(&goal, 1), sampled.searches());
      const std::int32_t t = goal.high;
      const auto above = std::count_if(magnitudes.begin(), magnitudes.end(), [&](std::int32_t m) { return m >= t; });
      const double miss = static_cast<double>(above) / 1000 - 1;
      squares += miss * miss / static_cast<double>(plan.stride);
    }
    const double expected = 1 / std::sqrt(static_cast<double>(plan.rank));
    EXPECT_NEAR(std::sqrt(squares), expected, 0.35 * expected) << "rank " << plan.rank;
  }
}

TEST(Dgc, PaperVariantCutsInIndexOrderAndTheFixedOneSendsAll) {
  const index_t n = 200000, k = 2000;
  int cuts = 0, more = 0;
  for (std::uint32_t seed = 1; seed <= 20; ++seed) {
    const auto a = make_input("laplace", n, seed);
    Rig fixed(entry, {{"ratio", "0.01"}}, Layout::flat(n), true);
    fixed.produce(a, seed);
    expect_conservation(fixed, a);
    expect_largest_sent(a, fixed.layout.segments[0], fixed.decoded().indices);
    ASSERT_LE(fixed.state->kept[0], 2600);
    more += fixed.state->kept[0] > k ? 1 : 0;

    Rig paper(entry, {{"variant", "paper"}, {"ratio", "0.01"}}, Layout::flat(n), true);
    paper.produce(a, seed);
    expect_conservation(paper, a);
    ASSERT_LE(paper.state->kept[0], k);
    const Decoded d = paper.decoded();
    if (paper.state->kept[0] < k || d.indices == top_k_indices(a, 0, n, k)) continue;
    ++cuts;  // all candidates up to the last index are sent, and none after it
    std::int32_t least = 0x7fffffff;
    for (const float v : d.values) least = std::min(least, bits_of(v));
    std::vector<std::uint32_t> front;
    for (std::uint32_t i = 0; i <= d.indices.back(); ++i)
      if (bits_of(a[i]) >= least) front.push_back(i);
    EXPECT_EQ(front, d.indices);
  }
  EXPECT_GT(cuts, 3);
  EXPECT_GT(more, 3);
}

TEST(Dgc, GuardsOnHostileInput) {
  const auto most = [](index_t k) { return static_cast<index_t>(1.3 * static_cast<double>(k)); };
  const auto least = [](index_t k) { return static_cast<index_t>(std::ceil(0.8 * static_cast<double>(k))); };
  check_guards(entry, {}, [=](index_t k, index_t n) { return Bounds{least(k), std::min(n, most(k))}; });
  check_guards(entry, {{"variant", "paper"}}, [](index_t k, index_t) { return Bounds{0, k}; }, false);
}

TEST(Dgc, ScalingKeepsTheSet) { check_scaling(entry, {{"ratio", "0.01"}}); }

TEST(Dgc, MemoryLosesNothing) {
  check_memory(entry, {{"ratio", "0.01"}});
  check_memory(entry, {{"ratio", "0.01"}, {"variant", "paper"}});
}

TEST(Dgc, ClosedLoopHoldsTheTarget) {
  for (const char* variant : {"paper", "fixed"}) {
    for (const char* ratio : {"0.01", "0.001"}) {
      const ClosedLoop loop = closed_loop(entry, {{"variant", variant}, {"ratio", ratio}}, 1);
      EXPECT_NEAR(loop.mean, 1, 0.08) << variant << " " << ratio;
      EXPECT_LE(loop.largest, 1.3);
    }
  }
}

}  // namespace dgc_test
}  // namespace sparse_test
