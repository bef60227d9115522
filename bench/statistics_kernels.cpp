// Kernels for finding thresholds: the statistics of a first pass, and counts above thresholds.
#include <algorithm>
#include <cmath>
#include <memory>

#include "gradcomp/kernels/select/count_above.hpp"
#include "gradcomp/kernels/select/moments.hpp"
#include "kernel.hpp"

namespace gradcomp::bench {
namespace {

Kernel first_pass(const KernelInput& input) {
  struct Arrays {
    kernels::Tiles tiles;
    kernels::FirstPass pass;
  };
  kernels::Tiles tiles(Layout::flat(input.count()));
  const auto arrays = std::make_shared<Arrays>(Arrays{tiles, kernels::FirstPass(tiles, kernels::Statistics::sums)});
  const auto work = [=] { arrays->pass.run(input.exec, arrays->tiles, input.source()); };
  const auto check = [=] {
    const kernels::Moments got = arrays->pass.moments().at(0);
    kernels::Moments expected;
    for (const float a : input.host()) {
      expected.sum += a;
      expected.sum_abs += std::abs(a);
      expected.sum_squares += static_cast<double>(a) * a;
      expected.nonzeros += a != 0 ? 1 : 0;
      expected.max_bits = std::max(expected.max_bits, kernels::magnitude(a));
    }
    require_close("sum", 0, got.sum, expected.sum, 1e-5 * expected.sum_abs);
    require_close("sum of magnitudes", 0, got.sum_abs, expected.sum_abs, 1e-5 * expected.sum_abs);
    require_close("sum of squares", 0, got.sum_squares, expected.sum_squares, 1e-5 * expected.sum_squares + 1e-30);
    require(got.nonzeros == expected.nonzeros && got.max_bits == expected.max_bits && got.non_finite == 0,
            "wrong answer: {} nonzeros and largest magnitude {:#x}, expected {} and {:#x}", got.nonzeros, got.max_bits,
            expected.nonzeros, expected.max_bits);
  };
  return {1, work, check, {}};
}

Kernel count_above(const KernelInput& input) {
  struct Arrays {
    kernels::Tiles tiles;
    kernels::CountAbove counter;
    Vector<kernels::Counts> counts;
  };
  kernels::Tiles tiles(Layout::flat(input.count()));
  const auto arrays =
      std::make_shared<Arrays>(Arrays{tiles, kernels::CountAbove(tiles), Vector<kernels::Counts>("counts", 1)});
  const auto host = input.host();
  double mean = 0;
  for (const float a : host) mean += std::abs(a) / static_cast<double>(host.size());
  kernels::Probes probes = kernels::no_probes();
  for (int i = 0; i < kernels::max_probes; ++i) probes[i] = kernels::magnitude(static_cast<float>(mean * i));
  const kernels::Counting counting = arrays->counter.counting();
  const Vector<kernels::Counts> counts = arrays->counts;
  const IndexRange segment(input.exec, 0, 1);
  Kokkos::parallel_for(
      "ask", segment, KOKKOS_LAMBDA(const index_t s) { counting.ask(s, probes, kernels::Shortlist().low(s)); });
  const auto work = [=] { arrays->counter.run(input.exec, arrays->tiles, input.gradient.data(), {}, device_is_host); };
  const auto check = [=] {
    Kokkos::parallel_for("answer", segment, KOKKOS_LAMBDA(const index_t s) { counts(s) = counting.answer(s, probes); });
    const auto values = input.host();
    const kernels::Counts found = to_host(input.exec, counts).at(0);
    for (int i = 0; i < kernels::max_probes; ++i) {
      const index_t expected =
          std::count_if(values.begin(), values.end(), [&](float a) { return kernels::magnitude(a) > probes[i]; });
      require(found[i] == expected, "wrong answer: {} elements above threshold {}, expected {}", found[i], i, expected);
    }
  };
  return {1, work, check, {}};
}

}  // namespace

std::vector<NamedKernel> statistics_kernels() {
  return {{"first_pass", 16, first_pass}, {"count_above", 16, count_above}};
}

}  // namespace gradcomp::bench
