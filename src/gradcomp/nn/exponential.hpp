#pragma once
// e^x, the logistic function and tanh without calls, branches and tables, so that compilers can vectorise loops over
// lanes. The functions of the standard library cost an LSTM (lstm_layer.hpp) of 128 units a third of its step. In
// double, the functions here call those.
#include "gradcomp/core/types.hpp"

namespace gradcomp::nn {

/// e^x with a relative error below 3e-7. It saturates at 1.2e-38 and 1.6e38, and NaN gives NaN. It uses a Cody-Waite
/// reduction and the polynomial of expf in Cephes (Moshier 1992).
KOKKOS_INLINE_FUNCTION float exponential(float x) {
  x = x < -87.3f ? -87.3f : x;
  x = x > 88.0f ? 88.0f : x;
  const float shifted = x * 1.44269504f + 12582912.0f;  // adding 3 x 2^22 rounds x / ln 2 to an integer in the low bits
  const float n = shifted - 12582912.0f;
  const float r = (x - n * 0.693359375f) + n * 2.12194440e-4f;
  const float p = ((((1.9875691500e-4f * r + 1.3981999507e-3f) * r + 8.3334519073e-3f) * r + 4.1665795894e-2f) * r +
                   1.6666665459e-1f) *
                      r +
                  5.0000001201e-1f;
  const auto bits = Kokkos::bit_cast<std::uint32_t>(shifted);
  return (p * r * r + r + 1.0f) * Kokkos::bit_cast<float>((bits << 23) + 0x3f800000u);
}

KOKKOS_INLINE_FUNCTION double exponential(double x) { return Kokkos::exp(x); }

/// 1 / (1 + e^-x).
template <class T>
KOKKOS_INLINE_FUNCTION T logistic(T x) {
  return T(1) / (T(1) + exponential(-x));
}

/// tanh(x) with a relative error below 6e-7, by the odd polynomial of Cephes near zero, and by e^(2 |x|) elsewhere.
KOKKOS_INLINE_FUNCTION float hyperbolic_tangent(float x) {
  const float size = x < 0 ? -x : x, z = x * x;
  const float small =
      ((((-5.70498872745e-3f * z + 2.06390887954e-2f) * z - 5.37397155531e-2f) * z + 1.33314422036e-1f) * z -
       3.33332819422e-1f) *
          z * x +
      x;
  const float large = 1.0f - 2.0f / (exponential(2.0f * size) + 1.0f);
  return size < 0.625f ? small : x < 0 ? -large : large;
}

KOKKOS_INLINE_FUNCTION double hyperbolic_tangent(double x) { return Kokkos::tanh(x); }

/// Value and derivative of the Gaussian error linear unit (GELU; Hendrycks and Gimpel 2016) in its approximation by
/// tanh, x / 2 (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))).
template <class T>
struct Gelu {
  T value, derivative;
};

template <class T>
KOKKOS_INLINE_FUNCTION Gelu<T> gelu(T x) {
  constexpr T root = T(0.79788456080286535588), cubic = T(0.044715);
  const T t = hyperbolic_tangent(root * (x + cubic * x * x * x));
  const T slope = root * (1 + 3 * cubic * x * x);
  return {T(0.5) * x * (1 + t), T(0.5) * (1 + t) + T(0.5) * x * (1 - t * t) * slope};
}

}  // namespace gradcomp::nn
