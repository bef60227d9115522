#pragma once
// What the layer tests share: random maps with their storage, and derivatives by central differences.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "gradcomp/nn/initialise.hpp"
#include "gradcomp/nn/maps.hpp"

namespace gradcomp::nn::test {

/// `count` standard normal numbers of stream `stream`.
template <class T>
Vector<T> random_vector(index_t count, index_t stream) {
  Vector<T> result("random", static_cast<std::size_t>(count));
  const auto host = Kokkos::create_mirror_view(result);
  for (index_t i = 0; i < count; ++i) host(i) = static_cast<T>(normal(7, stream, i));
  Kokkos::deep_copy(result, host);
  return result;
}

/// Maps with their storage; the halo is zero.
template <class T>
struct OwnedMaps {
  OwnedMaps(int images, int height, int width, int channels, int halo)
      : maps{nullptr, images, height, width, channels, halo}, storage("maps", maps.storage()) {
    maps.data = storage.data();
  }
  /// Fills all but the halo with random numbers.
  OwnedMaps& random(index_t stream) {
    for (index_t i = 0; i < maps.count(); ++i) (*this)(i) = static_cast<T>(normal(7, stream, i));
    return *this;
  }
  OwnedMaps& fill(T value) {
    for (index_t i = 0; i < maps.count(); ++i) (*this)(i) = value;
    return *this;
  }
  /// Element `i`, counted without the halo. Host builds only, as are these tests.
  T& operator()(index_t i) const {
    const Site site(maps, i);
    return maps.at(site.image, site.row, site.column)[site.channel];
  }
  Maps<T> maps;
  Vector<T> storage;
};

/// sum of a(i) b(i) over `count` elements.
template <class A, class B>
double dot(const A& a, const B& b, index_t count) {
  double sum = 0;
  for (index_t i = 0; i < count; ++i) sum += double(a(i)) * b(i);
  return sum;
}

/// (f(x + h) - f(x - h)) / 2h at `x`, which is put back.
template <class F>
double central_difference(double& x, const F& f, double h = 1e-5) {
  const double before = x;
  x = before + h;
  const double above = f();
  x = before - h;
  const double below = f();
  x = before;
  return (above - below) / (2 * h);
}

/// Compares `count` derivatives with central differences of f, about 25 of them, spread evenly.
template <class X, class G, class F>
void expect_gradient(const X& x, const G& gradient, index_t count, const F& f, const char* what, double h = 1e-5) {
  const index_t step = std::max<index_t>(1, count / 25);
  for (index_t i = 0; i < count; i += step) {
    const double expected = central_difference(x(i), f, h);
    EXPECT_NEAR(gradient(i), expected, 1e-7 * (1 + std::abs(expected))) << what << " element " << i;
  }
}

/// Largest |a - b| relative to the largest |b|.
template <class A, class B>
double relative_difference(const A& a, const B& b, index_t count) {
  double difference = 0, largest = 0;
  for (index_t i = 0; i < count; ++i) {
    difference = std::max(difference, std::abs(double(a(i)) - b(i)));
    largest = std::max(largest, std::abs(double(b(i))));
  }
  return difference / largest;
}

}  // namespace gradcomp::nn::test
