#pragma once
// Random maps and arrays on host and device, and derivatives by central differences, for the tests of layers.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "gradcomp/nn/maps.hpp"
#include "gradcomp/nn/networks/initialise.hpp"
#include "unit/nn/mirrored.hpp"

namespace gradcomp::nn::test {

/// `count` standard normal numbers of stream `stream`.
template <class T>
Mirrored<T> random_vector(index_t count, index_t stream) {
  Mirrored<T> result(count);
  for (index_t i = 0; i < count; ++i) result(i) = static_cast<T>(normal(7, stream, i));
  return result;
}

/// Maps with their storage (mirrored.hpp). The halo is zero.
template <class T>
struct OwnedMaps {
  OwnedMaps(int images, int height, int width, int channels, int halo)
      : shape{nullptr, images, height, width, channels, halo}, storage(shape.storage()) {}

  /// The maps for kernels that read them, or write them.
  Maps<const T> in() const { return of(storage.read()); }
  Maps<T> out() const { return of(storage.write()); }

  /// Fills all but the halo with random numbers.
  OwnedMaps& random(index_t stream) {
    for (index_t i = 0; i < count(); ++i) (*this)(i) = static_cast<T>(normal(7, stream, i));
    return *this;
  }
  OwnedMaps& fill(T value) {
    for (index_t i = 0; i < count(); ++i) (*this)(i) = value;
    return *this;
  }

  index_t count() const { return shape.count(); }
  /// Element `i`, counted without the halo, or channel 0 of a pixel, on the host.
  T& operator()(index_t i) const {
    const Site site(shape, i);
    return at(site.image, site.row, site.column)[site.channel];
  }
  T* at(int image, int row, int column) const { return of(storage.host().data()).at(image, row, column); }

  Maps<T> shape;  ///< extents, without data
  Mirrored<T> storage;

 private:
  template <class U>
  Maps<U> of(U* data) const {
    return {data, shape.images, shape.height, shape.width, shape.channels, shape.halo};
  }
};

/// The sum of a(i) b(i) over `count` elements.
template <class A, class B>
double dot(const A& a, const B& b, index_t count) {
  double sum = 0;
  for (index_t i = 0; i < count; ++i) sum += double(a(i)) * b(i);
  return sum;
}

/// (f(x + h) - f(x - h)) / 2h at `x`, which is restored.
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

/// Compares about 25 of `count` derivatives, spread evenly, with central differences of f.
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
