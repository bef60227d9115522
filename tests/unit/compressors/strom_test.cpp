#include "gradcomp/core/registry.hpp"
#include "unit/compressors/quanta_rig.hpp"

namespace sparse_test {
namespace strom_test {

Rig rig_of(const Layout& layout, const std::string& tau, bool multi = false, bool residual = true) {
  return Rig(find_entry("strom"), {{"tau", tau}, {"quanta", multi ? "multi" : "single"}}, layout, residual);
}

/// The number of quanta that is sent for one accumulated value, from the paper.
std::uint32_t reference_quanta(float a, float tau, bool multi) {
  if (!(std::fabs(a) > tau)) return 0;
  return multi ? static_cast<std::uint32_t>(std::clamp(std::fabs(a) / tau, 1.0f, 65535.0f)) : 1;
}

TEST(StromMethod, MatchesASerialReference) {
  for (const index_t n : {0, 1, 2, 31, 5001, 20001}) {
    const Layout layout = mixed_layout(n);
    for (const auto& name : input_names()) {
      for (const bool multi : {false, true}) {
        for (const float tau : {0.25f, 1.0f}) {  // some inputs have these values, which are not above tau
          SCOPED_TRACE(name + " n=" + std::to_string(n) + " tau=" + std::to_string(tau) + (multi ? " multi" : ""));
          auto a = make_input(name, layout.count());
          for (float& v : a) v += 0.0f;
          Rig rig = rig_of(layout, std::to_string(tau), multi);
          rig.produce(a);
          const Quanta q = quanta_of(rig, 1, multi);
          ASSERT_EQ(q.taus[0], tau);
          std::vector<float> rest(a), sent(a.size());
          std::size_t j = 0;
          for (std::size_t i = 0; i < a.size(); ++i) {
            const std::uint32_t quanta = reference_quanta(a[i], tau, multi);
            if (quanta == 0) continue;
            ASSERT_LT(j, q.indices.size());
            ASSERT_EQ(q.indices[j], i);
            ASSERT_EQ(q.negative[j], a[i] < 0);
            ASSERT_EQ(q.counts[j], quanta);
            sent[i] = std::copysign(static_cast<float>(quanta) * tau, a[i]);
            rest[i] = a[i] - sent[i];
            ++j;
          }
          ASSERT_EQ(j, q.indices.size());
          ASSERT_EQ(first_difference(rig.residual(), rest), -1);
          ASSERT_EQ(rig.decode(1, std::vector<float>(a.size())), sent);
          index_t kept = 0;
          for (const index_t k : rig.state->kept) kept += k;
          ASSERT_EQ(kept, static_cast<index_t>(j));
          ASSERT_EQ(rig.message.size, payload_header_bytes + rig.method->payload_bytes(layout, kept));
          ASSERT_LE(rig.message.size, rig.method->payload_capacity(layout));
        }
      }
    }
  }
}

TEST(StromMethod, DecodedAndResidualAddUpWithinOneUlp) {
  for (const bool multi : {false, true}) {
    for (const auto& name : input_names()) {
      const auto a = make_input(name, 20000);
      Rig rig = rig_of(Layout::flat(20000), "0.3", multi);
      rig.produce(a);
      const auto sent = rig.decode(1, std::vector<float>(a.size())), rest = rig.residual();
      for (std::size_t i = 0; i < a.size(); ++i) {
        const double ulp =
            static_cast<double>(std::nextafter(std::fabs(a[i]), INFINITY)) - static_cast<double>(std::fabs(a[i]));
        ASSERT_LE(std::fabs(static_cast<double>(sent[i]) + static_cast<double>(rest[i]) - static_cast<double>(a[i])),
                  ulp)
            << name << " " << i;
      }
    }
  }
}

TEST(StromMethod, OnlyManyQuantaCatchUpWithALargeGradient) {
  const std::vector<float> g = {10.25f, -7.5f, 0.125f, 0};
  Rig single = rig_of(Layout::flat(4), "1"), multi = rig_of(Layout::flat(4), "1", true);
  for (int step = 1; step <= 20; ++step) {
    single.produce(g, step);
    multi.produce(g, step);
    EXPECT_EQ(single.residual()[0], 9.25f * static_cast<float>(step));  // exact in float
    for (const float r : multi.residual()) ASSERT_LE(std::fabs(r), 1.0f);
  }
}

TEST(StromMethod, CountsAreCapped) {
  Rig rig = rig_of(Layout::flat(3), "0.5", true);
  rig.produce({1e9f, -1e9f, 0.25f});
  const Quanta q = quanta_of(rig, 1, true);
  EXPECT_EQ(q.counts, (std::vector<std::uint16_t>{65535, 65535}));
  EXPECT_EQ(rig.residual(), (std::vector<float>{1e9f - 32767.5f, -1e9f + 32767.5f, 0.25f}));
}

TEST(StromMethod, ManyStepsLoseNothing) {
  Rig rig = rig_of(Layout::flat(5000), "0.5");
  expect_nothing_lost(rig, 50, 50 * 20 * 0x1p-24);
}

TEST(StromMethod, CorruptPayloadsAreRefused) {
  Rig rig = rig_of(Layout::flat(1000), "0.5", true);
  rig.produce(make_input("gauss", 1000));
  const auto good = rig.payload();
  const auto kept = static_cast<std::size_t>(quanta_of(rig, 1, true).header.kept);
  ASSERT_GT(kept, 3u);
  const std::size_t words = 36, counts = words + 4 * kept;
  for (const float tau : {0.0f, -0.5f, std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN(),
                          std::numeric_limits<float>::max()}) {
    expect_payload_refused(rig, with_value(good, 32, tau), "tau");
  }
  expect_payload_refused(rig, with_value(good, words, std::uint32_t{2 * 999}), "not ascending");
  expect_payload_refused(rig, with_value(good, words + 4 * (kept - 1), std::uint32_t{2 * 1000}), "index n");
  expect_payload_refused(rig, with_value(good, words + 4 * (kept - 1), ~std::uint32_t{0}), "index far out");
  expect_payload_refused(rig, with_value(good, words + 4, std::uint32_t{2 * quanta_of(rig, 1, true).indices[0] + 1}),
                         "index twice");
  expect_payload_refused(rig, with_value(good, counts, std::uint16_t{0}), "no quantum");
  expect_payload_refused(rig, with_value(good, 16, std::uint64_t{kept - 1}), "fewer kept than bytes");
  expect_payload_refused(rig, with_value(good, 24, PayloadHeader::flag_diverged), "flag with entries");
}

TEST(StromMethod, RefusesWhatItCannotIndex) {
  const auto method = find_entry("strom").make(ParameterValues("strom", find_entry("strom").info.parameters, {}));
  Layout layout;
  layout.segments.push_back({0, "too long", {index_t{1} << 31}, 0, index_t{1} << 31});
  EXPECT_THROW(method->prepare(layout), Error);
}

}  // namespace strom_test
}  // namespace sparse_test
