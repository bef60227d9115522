#include "gradcomp/kernels/count_above.hpp"

#include <gtest/gtest.h>

#include "unit/sparse_inputs.hpp"

namespace gradcomp::kernels {
namespace {

using namespace sparse_test;

TEST(CountAbove, MatchesCountingSerially) {
  for (const index_t n : {0, 1, 31, 5000, 300001}) {
    const Layout layout = mixed_layout(n);
    const Tiles tiles(layout);
    CountAbove above(tiles);
    for (const auto& name : input_names()) {
      SCOPED_TRACE(name + " n=" + std::to_string(n));
      const auto x = make_input(name, layout.count());
      const Vector<float> a("a", x.size());
      Kokkos::deep_copy(a, Kokkos::View<const float*, Kokkos::HostSpace>(x.data(), x.size()));
      // 0, the smallest denormal, ties of "levels" and "ties", unasked ones in between, NaN's pattern
      std::vector<Probes> probes(layout.segments.size(),
                                 Probes{bits_of(1.0f), -1, 0, 1, bits_of(2.5f), bits_of(3e-42f), -7, 0x7f800001});
      probes[0] = Probes{-1, -1, -1, bits_of(0.25f), -1, -1, -1, -1};
      probes[4] = no_probes;
      const auto& counts = above.run(Exec(), tiles, a.data(), probes);
      for (std::size_t s = 0; s < layout.segments.size(); ++s) {
        const auto& segment = layout.segments[s];
        for (std::size_t p = 0; p < most_probes; ++p) {
          index_t expected = 0;
          for (index_t i = segment.offset; i < segment.offset + segment.count; ++i)
            expected += probes[s][p] >= 0 && bits_of(x[static_cast<std::size_t>(i)]) > probes[s][p] ? 1 : 0;
          ASSERT_EQ(counts[s][p], expected) << "segment " << s << " probe " << p;
        }
      }
    }
  }
}

TEST(CountAbove, WithoutAProbeEverythingIsZero) {
  const Layout layout = mixed_layout(5000);
  const Tiles tiles(layout);
  CountAbove above(tiles);
  const Vector<float> a("a", static_cast<std::size_t>(layout.count()));
  Kokkos::deep_copy(a, 1.0f);
  above.run(Exec(), tiles, a.data(), std::vector<Probes>(layout.segments.size(), Probes{}));
  for (const auto& counts : above.run(Exec(), tiles, a.data(), std::vector<Probes>(layout.segments.size(), no_probes)))
    for (const index_t count : counts) EXPECT_EQ(count, 0);
}

}  // namespace
}  // namespace gradcomp::kernels
