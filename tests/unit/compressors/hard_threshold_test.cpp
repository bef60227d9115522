#include "gradcomp/core/registry.hpp"
#include "unit/compressors/sparse_rig.hpp"

namespace sparse_test {
namespace hard_threshold_test {

Rig rig_of(const Layout& layout, std::map<std::string, std::string> options, bool residual = true) {
  return Rig(find_entry("hard_threshold"), options, layout, residual);
}

float largest(const std::vector<float>& x) {
  float most = 0;
  for (const float v : x) most = std::max(most, std::fabs(v));
  return most;
}

TEST(HardThresholdMethod, SendsWhatIsNotBelowLambdaAndKeepsTheRest) {
  for (const index_t n : {0, 1, 2, 31, 5001, 20001}) {
    const Layout layout = mixed_layout(n);
    for (const auto& name : input_names()) {
      for (const float lambda : {0.01f, 0.25f, 1.0f, 3.0f}) {  // some inputs have the values 0.25, 1 and 3
        SCOPED_TRACE(name + " n=" + std::to_string(n) + " lambda=" + std::to_string(lambda));
        auto a = make_input(name, layout.count());
        for (float& v : a) v += 0.0f;  // -0 becomes 0
        Rig rig = rig_of(layout, {{"lambda", std::to_string(lambda)}});
        rig.produce(a);
        std::vector<std::uint32_t> expected;
        for (std::size_t i = 0; i < a.size(); ++i)
          if (std::fabs(a[i]) >= lambda) expected.push_back(static_cast<std::uint32_t>(i));
        ASSERT_EQ(rig.decoded().indices, expected);
        expect_conservation(rig, a);
        for (std::size_t s = 0; s < layout.segments.size(); ++s) ASSERT_EQ(rig.state->target[s], 0);  // no statistic
      }
    }
  }
}

TEST(HardThresholdMethod, ResidualStaysBelowLambdaHoweverLongTheRun) {
  const index_t n = 20000;
  const double lambda = 2.5;
  Rig rig = rig_of(Layout::flat(n), {{"lambda", "2.5"}});
  std::vector<double> sent(static_cast<std::size_t>(n)), total(static_cast<std::size_t>(n)),
      size(static_cast<std::size_t>(n));
  for (int step = 0; step < 40; ++step) {
    const auto g = make_input(step % 2 == 0 ? "gauss" : "heavy", n, static_cast<std::uint32_t>(step));
    rig.produce(g, step);
    const auto r = rig.residual();
    ASSERT_LT(largest(r), lambda);
    ASSERT_LT(squares(r), static_cast<double>(n) * lambda * lambda);
    const auto d = rig.decoded();
    for (std::size_t j = 0; j < d.indices.size(); ++j) sent[d.indices[j]] += static_cast<double>(d.values[j]);
    for (std::size_t i = 0; i < g.size(); ++i) {
      total[i] += static_cast<double>(g[i]);
      size[i] += static_cast<double>(std::fabs(g[i]));
    }
  }
  const auto rest = rig.residual();
  for (std::size_t i = 0; i < rest.size(); ++i)
    ASSERT_NEAR(sent[i] + static_cast<double>(rest[i]), total[i], 0x1p-24 * (size[i] + 40 * lambda)) << i;
}

TEST(HardThresholdMethod, CountDecaysWithTheGradient) {
  const index_t n = 50000;
  auto a = make_input("gauss", n);
  index_t before = n + 1;
  for (int halving = 0; halving < 7; ++halving) {
    Rig rig = rig_of(Layout::flat(n), {{"lambda", "0.1"}});
    rig.produce(a);
    ASSERT_LT(rig.state->kept[0], before);
    before = rig.state->kept[0];
    for (float& v : a) v *= 0.5f;
  }
  EXPECT_EQ(before, 0);
}

TEST(HardThresholdMethod, LambdaOfAReferenceCount) {
  const float lambda = static_cast<float>(0.5 / std::sqrt(11174.0));  // ResNet-18 of the paper: 4.73e-3
  EXPECT_NEAR(lambda, 4.73e-3, 5e-6);
  std::vector<float> a = {lambda, std::nextafter(lambda, 0.0f), -lambda, std::nextafter(-lambda, -1.0f), 0};
  Rig rig = rig_of(Layout::flat(5), {{"k_ref", "11174"}, {"lambda", "7"}});
  rig.produce(a);
  EXPECT_EQ(rig.decoded().indices, (std::vector<std::uint32_t>{0, 2, 3}));
}

TEST(HardThresholdMethod, NegativeTensorsAreNotSentWhole) {
  std::vector<float> a(1000, -1e-4f);
  a[10] = -0.5f;
  Rig rig = rig_of(Layout::flat(1000), {});
  rig.produce(a);
  EXPECT_EQ(rig.decoded().indices, (std::vector<std::uint32_t>{10}));
}

TEST(HardThresholdMethod, RefusesBadOptions) {
  const Entry entry = find_entry("hard_threshold");
  for (const char* lambda : {"0", "-1", "nan", "x"})
    EXPECT_THROW(ParameterValues("hard_threshold", entry.info.parameters, {{"lambda", lambda}}), Error) << lambda;
  EXPECT_THROW(ParameterValues("hard_threshold", entry.info.parameters, {{"ratio", "0.1"}}), Error);
}

}  // namespace hard_threshold_test
}  // namespace sparse_test
