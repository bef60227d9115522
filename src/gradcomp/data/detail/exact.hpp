#pragma once
// Arithmetic whose bits do not depend on the compiler. Without -ffast-math, a C++ compiler may change the bits in one
// way only: it may fuse a product with the sum that follows, which skips the rounding of the product. A product of two
// floats is exact in double (24 + 24 <= 53 bits), so that there is no rounding to skip. Therefore every product here is
// mul(float, float) -> double, sums are double, and a sum becomes a float before it is multiplied again. IEEE 754
// rounds quotients and square roots correctly on every machine.
#include <cmath>

namespace gradcomp::data::detail {

inline double mul(float a, float b) { return static_cast<double>(a) * static_cast<double>(b); }

inline float rounded(double x) { return static_cast<float>(x); }

/// Euclidean length of (x, y).
inline double length(double x, double y) {
  const float a = rounded(x), b = rounded(y);
  return std::sqrt(mul(a, a) + mul(b, b));
}

/// Triangle wave of period 1 and range [-1, 1]; t > 0. The factor 4 is a power of two: exact.
inline double wave(double t) {
  const double fraction = t - static_cast<double>(static_cast<long>(t));
  return 4.0 * std::fabs(fraction - 0.5) - 1.0;
}

}  // namespace gradcomp::data::detail
