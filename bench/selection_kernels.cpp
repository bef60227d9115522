// Building blocks of sparsifiers: the exact selection of the k largest entries, and adding entries to a dense array.
#include <algorithm>
#include <memory>
#include <numeric>

#include "gradcomp/kernels/select/scatter.hpp"
#include "gradcomp/kernels/select/top_k.hpp"
#include "kernel.hpp"

namespace gradcomp::bench {
namespace {

constexpr double density = 0.01;

index_t entries(index_t count) {
  return std::max<index_t>(1, static_cast<index_t>(density * static_cast<double>(count)));
}

/// Indices of the k largest magnitudes in ascending order; of equal magnitudes the lower index counts as larger.
std::vector<std::uint32_t> largest(const std::vector<float>& a, index_t k) {
  std::vector<std::uint32_t> order(a.size());
  std::iota(order.begin(), order.end(), 0u);
  std::nth_element(order.begin(), order.begin() + (k - 1), order.end(), [&](std::uint32_t i, std::uint32_t j) {
    const auto x = kernels::magnitude(a[i]), y = kernels::magnitude(a[j]);
    return x != y ? x > y : i < j;
  });
  order.resize(static_cast<std::size_t>(k));
  std::sort(order.begin(), order.end());
  return order;
}

/// The selection without its first pass, which runs untimed.
Kernel top_k(const KernelInput& input) {
  struct Arrays {
    kernels::Tiles tiles;
    kernels::FirstPass first;
    kernels::Selector selector;
    std::vector<kernels::Selection> selections;
    Vector<std::uint32_t> indices;
    Vector<float> values;
  };
  const index_t k = entries(input.count());
  const kernels::Tiles tiles(Layout::flat(input.count()));
  kernels::Selection selection;
  selection.k = k;
  const auto arrays =
      std::make_shared<Arrays>(Arrays{tiles,
                                      kernels::FirstPass(tiles, kernels::Statistics::largest),
                                      kernels::Selector(tiles, density),
                                      {selection},
                                      Vector<std::uint32_t>("gradcomp::bench::indices", static_cast<std::size_t>(k)),
                                      Vector<float>("gradcomp::bench::values", static_cast<std::size_t>(k))});
  const auto before = [=] { arrays->first.run(input.exec, arrays->tiles, input.source()); };
  const auto work = [=] {
    auto& own = *arrays;
    own.selector.choose(input.exec, own.tiles, input.source(), own.first, own.selections);
    own.selector.emit(input.exec, own.tiles, input.source(), own.indices.data(), own.values.data());
  };
  const auto check = [=] {
    const auto a = input.host();
    const auto indices = to_host(input.exec, arrays->indices), expected = largest(a, k);
    const auto values = to_host(input.exec, arrays->values);
    require(arrays->selector.kept() == k, "wrong answer: {} entries kept, expected {}", arrays->selector.kept(), k);
    for (std::size_t i = 0; i < expected.size(); ++i)
      require(indices[i] == expected[i] && values[i] == a[expected[i]], "wrong answer: entry {} is {}, expected {}", i,
              indices[i], expected[i]);
  };
  return {1, work, check, before};
}

/// Adds every hundredth element: reads index and value, and reads and writes the element.
Kernel scatter(const KernelInput& input) {
  const index_t k = entries(input.count()), stride = input.count() / k;
  std::vector<std::uint32_t> at(static_cast<std::size_t>(k));
  for (std::size_t i = 0; i < at.size(); ++i) at[i] = static_cast<std::uint32_t>(static_cast<index_t>(i) * stride);
  const auto indices = upload("gradcomp::bench::indices", at);
  const Vector<float> out("gradcomp::bench::out", input.gradient.size());
  const auto before = [=] { Kokkos::deep_copy(input.exec, out, 0.0f); };
  const auto work = [=] {  // the first k elements are the values
    kernels::scatter_add(input.exec, indices.data(), input.gradient.data(), k, 0.5f, out);
  };
  const auto check = [=] {
    const auto values = input.host(), got = to_host(input.exec, out);
    std::vector<float> expected(values.size());
    for (std::size_t i = 0; i < at.size(); ++i) expected[at[i]] = 0.5f * values[i];
    for (std::size_t i = 0; i < got.size(); ++i)
      require(got[i] == expected[i], "wrong answer: element {} is {}, expected {}", i, got[i], expected[i]);
  };
  return {4 * static_cast<double>(k) / static_cast<double>(input.count()), work, check, before};
}

}  // namespace

std::vector<NamedKernel> selection_kernels() { return {{"top_k", 24, top_k}, {"scatter", 24, scatter}}; }

}  // namespace gradcomp::bench
