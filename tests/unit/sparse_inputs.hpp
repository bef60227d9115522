#pragma once
// Inputs and plain serial references for the tests of sparse kernels and methods.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "gradcomp/core/layout.hpp"

namespace sparse_test {

using gradcomp::index_t;
using gradcomp::Layout;

inline std::int32_t bits_of(float x) {
  std::uint32_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  return static_cast<std::int32_t>(bits & 0x7fffffffu);
}

/// Names of make_input(): hostile values, ties and distributions of gradients.
inline const std::vector<std::string>& input_names() {
  static const std::vector<std::string> names = {"laplace", "gauss",    "heavy",  "zeros",  "constant", "one_nonzero",
                                                 "ties",    "denormal", "levels", "sparse", "spikes",   "huge"};
  return names;
}

inline std::vector<float> make_input(const std::string& name, index_t n, std::uint32_t seed = 1) {
  std::mt19937_64 random(seed);
  std::exponential_distribution<double> exponential;
  std::normal_distribution<double> normal;
  std::vector<float> x(static_cast<std::size_t>(n));
  for (index_t i = 0; i < n; ++i) {
    const double sign = random() % 2 == 0 ? 1 : -1;
    double v = 0;
    if (name == "laplace") v = sign * exponential(random);
    if (name == "gauss") v = normal(random);
    if (name == "heavy") v = sign * std::pow(exponential(random), 3) * std::exp(2 * normal(random));
    if (name == "constant") v = 0.25;
    if (name == "one_nonzero") v = i == n / 2 ? -3 : 0;
    if (name == "ties") v = sign;
    if (name == "denormal") v = sign * 1e-42 * exponential(random);
    if (name == "levels") v = sign * static_cast<double>(random() % 5);
    if (name == "sparse") v = random() % 20 == 0 ? sign * exponential(random) : sign * 0.0;
    if (name == "spikes") v = (i % 4096 < 200 ? 100.0 : 1.0) * sign * exponential(random);  // clusters mislead a sample
    if (name == "huge") v = sign * 1e37 * exponential(random);
    x[static_cast<std::size_t>(i)] = static_cast<float>(v);
  }
  return x;
}

/// The ascending indices of the k largest magnitudes in x[first, first + n). Ties go to the lowest index.
inline std::vector<std::uint32_t> top_k_indices(const std::vector<float>& x, index_t first, index_t n, index_t k) {
  std::vector<std::uint32_t> order;
  for (index_t i = first; i < first + n; ++i) order.push_back(static_cast<std::uint32_t>(i));
  const auto end = order.begin() + std::min(k, n);
  std::nth_element(order.begin(), end, order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return bits_of(x[a]) != bits_of(x[b]) ? bits_of(x[a]) > bits_of(x[b]) : a < b;
  });
  order.erase(end, order.end());
  std::sort(order.begin(), order.end());
  return order;
}

/// Several segments, including an empty one and some with one element, with about n elements in all.
inline Layout mixed_layout(index_t n) {
  Layout layout;
  layout.add("a", {1})
      .add("b", {0})
      .add("c", {n / 2})
      .add("d", {31})
      .add("e", {n / 3, 1})
      .add("f", {4096})
      .add("g", {1});
  return layout;
}

/// Whether all bits are equal; this tells signed zeros and denormals apart.
inline bool same_bits(float a, float b) { return std::memcmp(&a, &b, sizeof a) == 0; }

/// First place at which two arrays differ in a bit, or -1 if they are equal. A check per element would take seconds.
inline index_t first_difference(const std::vector<float>& a, const std::vector<float>& b) {
  if (a.size() != b.size()) return static_cast<index_t>(std::min(a.size(), b.size()));
  for (std::size_t i = 0; i < a.size(); ++i)
    if (!same_bits(a[i], b[i])) return static_cast<index_t>(i);
  return -1;
}

}  // namespace sparse_test
