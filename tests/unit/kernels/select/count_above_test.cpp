#include "gradcomp/kernels/select/count_above.hpp"

#include <gtest/gtest.h>

#include "copies.hpp"
#include "gradcomp/kernels/select/top_k.hpp"
#include "unit/sparse_inputs.hpp"

namespace gradcomp::kernels {
namespace count_above_test {

using namespace sparse_test;
using test::to_device;
using test::to_host;

std::vector<Counts> count(const CountAbove& above, const Tiles& tiles, const float* a,
                          const std::vector<Probes>& probes, const Shortlist& list = {}) {
  const Exec exec;
  const Vector<Probes> asked = to_device(probes);
  const Vector<Counts> found("found", probes.size());
  const Counting counting = above.counting();
  const IndexRange segments(exec, 0, tiles.segments());
  Kokkos::parallel_for("ask", segments, KOKKOS_LAMBDA(const index_t s) { counting.ask(s, asked(s), list.low(s)); });
  above.run(exec, tiles, a, list.runs, device_is_host);
  Kokkos::parallel_for("answer", segments, KOKKOS_LAMBDA(const index_t s) { found(s) = counting.answer(s, asked(s)); });
  return to_host(found);
}

TEST(CountAbove, MatchesCountingSerially) {
  for (const index_t n : {0, 1, 31, 5000, 300001}) {
    const Layout layout = mixed_layout(n);
    const Tiles tiles(layout);
    CountAbove above(tiles);
    for (const auto& name : input_names()) {
      SCOPED_TRACE(name + " n=" + std::to_string(n));
      const auto x = make_input(name, layout.count());
      const Vector<float> a = to_device(x);
      // 0, the smallest denormal, ties of "levels" and "ties", unasked ones in between, NaN's pattern
      std::vector<Probes> probes(layout.segments.size(),
                                 Probes{bits_of(1.0f), -1, 0, 1, bits_of(2.5f), bits_of(3e-42f), -7, 0x7f800001});
      probes[0] = Probes{-1, -1, -1, bits_of(0.25f), -1, -1, -1, -1};
      probes[4] = no_probes();
      const auto counts = count(above, tiles, a.data(), probes);
      for (std::size_t s = 0; s < layout.segments.size(); ++s) {
        const auto& segment = layout.segments[s];
        for (std::size_t p = 0; p < max_probes; ++p) {
          index_t expected = 0;
          for (index_t i = segment.offset; i < segment.offset + segment.count; ++i)
            expected += probes[s][p] >= 0 && bits_of(x[static_cast<std::size_t>(i)]) > probes[s][p] ? 1 : 0;
          ASSERT_EQ(counts[s][p], expected) << "segment " << s << " probe " << p;
        }
      }
    }
  }
}

TEST(CountAbove, CountsInAShortlistWhatAllOfItWouldGive) {
  const Exec exec;
  const Layout layout = mixed_layout(50000);
  const Tiles tiles(layout);
  const auto x = make_input("laplace", layout.count(), 3);
  const Vector<float> gradient = to_device(x);
  const Source source{Source::Kind::none, layout.count(), gradient.data()};
  FirstPass first(tiles, Statistics::largest);
  Selector selector(tiles, 0.02);
  std::vector<Selection> selections;
  for (const auto& segment : layout.segments) selections.push_back({segment.count / 100, true, 0, 0});
  for (int step = 0; step < 2; ++step) {
    first.run(exec, tiles, source, selector.expect(source));
    if (step == 0) selector.choose(exec, tiles, source, first, selections);
  }
  const Shortlist list = selector.shortlist(tiles, first);
  const auto lows = to_host(list.bound, static_cast<index_t>(layout.segments.size()));
  const std::int32_t low = lows[2];
  ASSERT_NE(low, no_bound);
  const Vector<float> zeros("zeros", x.size());  // replaces elements that must not be read
  CountAbove above(tiles);
  std::vector<Probes> probes(layout.segments.size(), no_probes());
  probes[2] = Probes{low, low + 1000, bits_of(6.0f), -1, bits_of(7.0f), -1, -1, -1};
  const auto exact = count(above, tiles, gradient.data(), probes);
  EXPECT_EQ(exact[2][0], first.moments()[2].candidates);
  const auto listed = count(above, tiles, zeros.data(), probes, list);
  for (std::size_t s = 0; s < exact.size(); ++s)
    for (std::size_t p = 0; p < max_probes; ++p) EXPECT_EQ(listed[s][p], exact[s][p]);
  probes[2][3] = low - 1;  // this probe is below the bound, so that the whole segment is read
  const auto whole = count(above, tiles, zeros.data(), probes, list);
  for (const index_t found : whole[2]) EXPECT_EQ(found, 0);
}

TEST(CountAbove, WithoutAProbeEverythingIsZero) {
  const Layout layout = mixed_layout(5000);
  const Tiles tiles(layout);
  CountAbove above(tiles);
  const Vector<float> a("a", static_cast<std::size_t>(layout.count()));
  Kokkos::deep_copy(a, 1.0f);
  count(above, tiles, a.data(), std::vector<Probes>(layout.segments.size(), Probes{}));
  for (const auto& counts : count(above, tiles, a.data(), std::vector<Probes>(layout.segments.size(), no_probes())))
    for (const index_t count : counts) EXPECT_EQ(count, 0);
}

}  // namespace count_above_test
}  // namespace gradcomp::kernels
