// The count sketch of a vector, and the estimates from it.
#include <algorithm>
#include <cmath>
#include <memory>

#include "gradcomp/kernels/random/random_subset.hpp"
#include "gradcomp/kernels/sketch/count_sketch.hpp"
#include "kernel.hpp"

namespace gradcomp::bench {
namespace {

constexpr int rows = 5;
constexpr index_t sketched = 0;  ///< id of the segment

index_t table_columns(index_t count) { return kernels::sketch_block * std::max<index_t>(1, count / 320); }

struct Sketched {
  explicit Sketched(const KernelInput& given)
      : input(given),
        columns(table_columns(given.count())),
        sketch(given.count(), rows, columns),
        table("gradcomp::bench::table", static_cast<std::size_t>(sketch.table_size())),
        estimates("gradcomp::bench::estimates", given.gradient.size()) {
    sketch.hash(input.exec, input.seed, sketched);
    sketch.sketch(input.exec, input.gradient.data(), table);
  }
  /// The cell and the sign of element i in a row, by the definition.
  std::pair<std::size_t, float> cell(int row, std::size_t i) const {
    const Array4 bits = threefry4x32_12(
        stream_key(input.seed, sketched, 0, every_rank),
        stream_counter(static_cast<index_t>(i / 32), random_stream::sketch, static_cast<unsigned>(row)));
    const index_t ring = kernels::random_below(bits.x0, bits.x1, columns / kernels::sketch_block);
    const auto within = (i + bits.x2) % 32;
    return {static_cast<std::size_t>(row * columns + 32 * ring) + within, (bits.x3 >> within & 1u) != 0 ? -1.0f : 1.0f};
  }

  KernelInput input;
  index_t columns;
  kernels::CountSketch sketch;
  Vector<float> table, estimates;
};

/// The hashes were drawn before, and are not part of the case.
Kernel sketch(const KernelInput& input) {
  const auto own = std::make_shared<const Sketched>(input);
  const auto work = [=] { own->sketch.sketch(input.exec, input.gradient.data(), own->table); };
  const auto check = [=] {
    const auto a = input.host(), got = to_host(input.exec, own->table);
    std::vector<double> expected(got.size()), sizes(got.size());
    for (int row = 0; row < rows; ++row) {
      for (std::size_t i = 0; i < a.size(); ++i) {
        const auto [place, sign] = own->cell(row, i);
        expected[place] += static_cast<double>(sign) * a[i];
        sizes[place] += std::abs(a[i]);
      }
    }
    for (std::size_t c = 0; c < got.size(); ++c)
      require_close("cell", static_cast<index_t>(c), got[c], expected[c], 1e-5 * sizes[c]);
  };
  return {rows, work, check, {}};
}

Kernel estimate(const KernelInput& input) {
  const auto own = std::make_shared<const Sketched>(input);
  const auto work = [=] { own->sketch.estimate(input.exec, own->table, own->estimates); };
  const auto check = [=] {
    const auto table = to_host(input.exec, own->table), got = to_host(input.exec, own->estimates);
    for (std::size_t i = 0; i < got.size(); ++i) {
      std::vector<float> all;
      for (int row = 0; row < rows; ++row) {
        const auto [place, sign] = own->cell(row, i);
        all.push_back(sign * table[place]);
      }
      std::sort(all.begin(), all.end());
      require(got[i] == all[rows / 2], "wrong answer: estimate {} is {}, expected {}", i, got[i], all[rows / 2]);
    }
  };
  return {1, work, check, {}};
}

}  // namespace

std::vector<NamedKernel> sketch_kernels() { return {{"count_sketch", 32, sketch}, {"sketch_estimates", 32, estimate}}; }

}  // namespace gradcomp::bench
