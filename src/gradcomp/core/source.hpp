#pragma once
// Source: what a compressor reads and what it leaves behind. A small value type, captured by kernels, so that error
// feedback costs no sweep of its own.
//
// In every step a compressor makes ONE pass with first(), which forms a (the gradient with its feedback) and stores it
// where the kind keeps one; all later passes use load(). Whatever is sent is reported with sent(), with the value that
// receivers decode, once per element; whatever is not reported stays.
#include "gradcomp/core/types.hpp"

namespace gradcomp {

struct Source {
  /// none: a = g, nothing is remembered. residual (Seide 2014; Stich 2018): a = beta r + gamma g, leaves a - decoded.
  enum class Kind : std::uint8_t { none, residual };

  Kind kind = Kind::none;
  index_t count = 0;
  const float* gradient = nullptr;  ///< g, `count` elements
  float* memory = nullptr;          ///< r of kind residual, `count` elements; null without a memory
  float beta = 1, gamma = 1;

  bool has_memory() const { return memory != nullptr; }

  /// True unless `value` is infinite or not a number; looks at bits, so that no fast-math flag can break it.
  KOKKOS_INLINE_FUNCTION static bool is_finite(float value) {
    return (Kokkos::bit_cast<std::uint32_t>(value) & 0x7f800000u) != 0x7f800000u;
  }

  /// First touch of element i in a step. Where the gradient is not finite, or its sum with the memory overflows, `good`
  /// is set to false (never to true) and the memory stays as it was (a = r, or 0 without a memory); the compressor must
  /// then produce a flagged message.
  KOKKOS_INLINE_FUNCTION float first(index_t i, bool& good) const {
    const float g = gradient[i];
    if (kind == Kind::none) {
      good = good && is_finite(g);
      return is_finite(g) ? g : 0.0f;
    }
    const float sum = beta * memory[i] + gamma * g;
    good = good && is_finite(sum);
    const float a = is_finite(sum) ? sum : memory[i];
    memory[i] = a;
    return a;
  }

  /// Where first() left a: the array that later passes read (contiguous, `count` elements).
  KOKKOS_INLINE_FUNCTION const float* accumulated() const { return kind == Kind::none ? gradient : memory; }

  /// a again, in any later touch of the same step.
  KOKKOS_INLINE_FUNCTION float load(index_t i) const { return accumulated()[i]; }

  /// Element i was sent and receivers decode `decoded` for it.
  KOKKOS_INLINE_FUNCTION void sent(index_t i, float a, float decoded) const {
    if (kind == Kind::residual) memory[i] = a - decoded;
  }
};

}  // namespace gradcomp
