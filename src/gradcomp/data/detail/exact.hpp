#pragma once
// Arithmetic whose bits do not depend on the compiler. The one freedom that IEEE 754 leaves a C++ compiler (without
// -ffast-math) is to fuse a product with a following sum and so skip the product's rounding. A product of two floats is
// exact in double (24 + 24 <= 53 bits): there is no rounding to skip, and fused or not the bits agree. So every product
// here is mul(float, float) -> double, sums are double, and a sum becomes a float before it is multiplied again.
// Quotients and square roots are correctly rounded everywhere.
#include <cmath>

namespace gradcomp::data::detail {

inline double mul(float a, float b) { return static_cast<double>(a) * static_cast<double>(b); }

inline float rounded(double x) { return static_cast<float>(x); }

/// |(x, y)|
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
