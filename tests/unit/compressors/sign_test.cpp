// sign and signum: exactly n bits, the order of bits, the sign of zeros, invariance under scaling, momentum.
#include <algorithm>

#include "gradcomp/core/registry.hpp"
#include "unit/compressors/dense_rig.hpp"

namespace gradcomp {
namespace sign_test {

using namespace dense_test;

Floats signs_of(const Floats& x) {
  Floats s;
  for (const float v : x) s.push_back(v < 0 ? -1.0f : 1.0f);
  return s;
}

TEST(Sign, IsNBitsExactly) {
  for (const Entry& entry : {find_entry("sign"), find_entry("signum")}) {
    for (const index_t n : edge_sizes()) {
      Rig rig(entry, Layout::flat(n));
      const Floats x = normal_values(n, 3);
      const Bytes payload = rig.encode(plain_source(x));
      ASSERT_EQ(static_cast<index_t>(payload.size()), payload_header_bytes + 4 * ((n + 31) / 32));
      ASSERT_EQ(rig.method->payload_bytes(Layout::flat(n), n), 4 * ((n + 31) / 32));
      Floats out(x.size(), 0);
      rig.decode(payload, 1, out);
      ASSERT_EQ(out, signs_of(x)) << n;
    }
    const auto method = entry.make(ParameterValues("sign", entry.info.parameters, {}));
    EXPECT_EQ(method->payload_bytes(Layout::flat(11173962), 0), 1396748);  // ResNet-18, then ResNet-20
    EXPECT_EQ(method->payload_bytes(Layout::flat(269722), 0), 33716);
  }
}

// The order is the one that kernels/pack/signs.hpp describes.
TEST(Sign, BitsOfAWholeBlockAreVerticalAndThoseBehindAreNot) {
  const std::size_t n = 2 * 1024 + 77;
  for (const std::size_t i :
       {std::size_t{0}, std::size_t{1}, std::size_t{33}, std::size_t{1023}, std::size_t{1024}, std::size_t{1024 + 65},
        std::size_t{2047}, std::size_t{2048}, std::size_t{2048 + 40}, std::size_t{n - 1}}) {
    Floats x(n, 1.0f);
    x[i] = -1;
    const Bytes payload = Rig(find_entry("sign"), Layout::flat(static_cast<index_t>(n))).encode(plain_source(x));
    std::vector<std::uint32_t> words((payload.size() - static_cast<std::size_t>(payload_header_bytes)) / 4);
    std::memcpy(words.data(), payload.data() + payload_header_bytes, 4 * words.size());
    std::vector<std::uint32_t> expected(words.size(), 0);
    if (i < 2048) {
      expected[i / 1024 * 32 + i % 32] = 1u << (i % 1024 / 32);
    } else {
      expected[i / 32] = 1u << (i % 32);
    }
    ASSERT_EQ(words, expected) << i;
  }
}

TEST(Sign, SegmentsDoNotMatter) {
  Layout layout;
  layout.add("a", {33}).add("b", {0}).add("c", {5, 7}).add("d", {2000});
  const Floats x = normal_values(layout.count(), 4);
  const Bytes one = Rig(find_entry("sign"), layout.fused()).encode(plain_source(x));
  EXPECT_EQ(Rig(find_entry("sign"), layout).encode(plain_source(x)), one);
}

TEST(Sign, ZerosDenormalsAndHugeValues) {
  const float huge = std::numeric_limits<float>::max(), tiny = std::numeric_limits<float>::denorm_min();
  const Floats x{0.0f, -0.0f, tiny, -tiny, huge, -huge, 1e-40f, -1e-40f};
  EXPECT_EQ(Rig(find_entry("sign"), Layout::flat(8)).round_trip(x), (Floats{1, 1, 1, -1, 1, -1, 1, -1}));
}

TEST(Sign, ScaleDoesNotMatter) {
  const Floats x = normal_values(5000, 6);
  for (const float scale : {0.3f, 1e-20f, 1e20f}) {
    Floats y = x;
    for (float& v : y) v *= scale;
    for (const Entry& entry : {find_entry("sign"), find_entry("signum")}) {
      EXPECT_EQ(Rig(entry, Layout::flat(5000)).round_trip(y), Rig(entry, Layout::flat(5000)).round_trip(x)) << scale;
    }
  }
}

TEST(Sign, HasNoFeedbackAndASmallRate) {
  for (const Entry& entry : {find_entry("sign"), find_entry("signum")}) {
    EXPECT_EQ(entry.info.feedbacks, (std::vector<std::string>{"none"}));
    EXPECT_EQ(entry.info.reducer, "vote");
    EXPECT_DOUBLE_EQ(entry.info.learning_rate_scale, 1e-3);
    EXPECT_EQ(entry.info.property, Info::Property::sign);
  }
}

TEST(Sign, TrustsNothing) {
  for (const Entry& entry : {find_entry("sign"), find_entry("signum")}) {
    check_hostile(entry, {}, Layout::flat(1300));
    Rig rig(entry, Layout::flat(1300));
    Bytes bad = rig.encode(plain_source(normal_values(1300, 5)));
    bad.back() |= std::byte{0x80};
    EXPECT_TRUE(rig.refuses(bad)) << "a bit behind the last element";
  }
}

TEST(Signum, SendsTheSignOfItsRunningMean) {
  for (const char* beta : {"0", "0.5", "0.9"}) {
    Rig rig(find_entry("signum"), Layout::flat(3000), {{"beta", beta}});
    std::vector<double> m(3000, 0);
    int different = 0;
    for (int step = 0; step < 6; ++step) {
      const Floats g = normal_values(3000, static_cast<unsigned>(step));
      const Floats out = rig.round_trip(g);
      for (std::size_t i = 0; i < g.size(); ++i) {
        m[i] = std::stod(beta) * m[i] + (1 - std::stod(beta)) * g[i];
        if (std::abs(m[i]) > 1e-5) {
          ASSERT_EQ(out[i], m[i] < 0 ? -1.0f : 1.0f) << step << " " << i;
        }
        different += out[i] != (g[i] < 0 ? -1.0f : 1.0f);
      }
    }
    EXPECT_EQ(different > 0, std::string(beta) != "0");
  }
}

TEST(Signum, KeepsTheMomentumWhereTheGradientIsNotFinite) {
  Rig rig(find_entry("signum"), Layout::flat(100));
  rig.encode(plain_source(Floats(100, -1.0f)));
  Floats poisoned(100, 20.0f);
  poisoned[7] = NAN;
  rig.encode(plain_source(poisoned));
  const auto views = rig.state->memories();
  ASSERT_EQ(views.size(), 1u);
  EXPECT_EQ(views[0].bytes, 400);
  const auto* const m = static_cast<const float*>(views[0].data);
  for (std::size_t i = 0; i < 100; ++i) ASSERT_NEAR(m[i], i == 7 ? -0.1f : -0.09f + 2.0f, 1e-5) << i;
}

}  // namespace sign_test
}  // namespace gradcomp
