#pragma once
// Source: what a compressor reads and what it leaves behind. A small value type, captured by kernels, so that error
// feedback costs no sweep of its own.
//
// In every step a compressor makes ONE pass with accumulate(), which forms a (the gradient with its feedback) and
// stores it if there is a memory. All later passes use load(). The compressor reports every element that it sends once,
// with sent() and the value that receivers decode. Elements that are not reported stay in the memory.
#include "gradcomp/core/types.hpp"

namespace gradcomp {

struct Source {
  enum class Kind : std::uint8_t {
    none,                 ///< a = g, nothing is remembered
    residual,             ///< a = beta r + gamma g, leaves r = a - decoded (Seide 2014; Stich 2018)
    momentum_correction,  ///< u = m u + gamma g, a = v + u, leaves v = a - decoded (DGC; Lin et al., ICLR 2018)
    ef21,                 ///< a = gamma g - h, leaves h + decoded (Richtarik et al., NeurIPS 2021)
  };

  Kind kind = Kind::none;
  index_t count = 0;
  const float* gradient = nullptr;  ///< g, `count` elements
  float* memory = nullptr;          ///< r, v or h, `count` elements; null without a memory
  float beta = 1, gamma = 1;

  float* velocity = nullptr;  ///< u; of ef21 the running mean of gradients, or null without one
  float* work = nullptr;      ///< a of ef21
  float momentum = 0;         ///< m; of ef21 the share of the old mean: mean = m mean + (1 - m) g
  bool nesterov = false;      ///< u = m (u + gamma g), a = v + u + gamma g
  bool masking = false;       ///< of momentum_correction: u = 0 where an element was sent

  KOKKOS_FUNCTION bool has_memory() const { return memory != nullptr; }

  /// True unless `value` is infinite or not a number; looks at bits, so that no fast-math flag can break it.
  KOKKOS_INLINE_FUNCTION static bool is_finite(float value) {
    return (Kokkos::bit_cast<std::uint32_t>(value) & 0x7f800000u) != 0x7f800000u;
  }

  /// Forms a of element i, once in a step. If the gradient is not finite, or its sum with the memory overflows, sets
  /// `good` to false (never to true) and leaves the memories as they were (a is then r, v or 0); the compressor must
  /// then produce a flagged message (Mark).
  KOKKOS_INLINE_FUNCTION float accumulate(index_t i, bool& good) const {
    const float g = gradient[i];
    if (kind == Kind::none) {
      good = good && is_finite(g);
      return is_finite(g) ? g : 0.0f;
    }
    const float v = velocity == nullptr ? 0.0f : velocity[i];
    const Sum sum = add(g, memory[i], v);
    const bool fine = is_finite(sum.a);
    good = good && fine;
    if (velocity != nullptr && fine) velocity[i] = sum.velocity;
    if (kind == Kind::ef21) return work[i] = fine ? sum.a : 0.0f;
    if (fine) memory[i] = sum.a;
    return memory[i];
  }

  /// Where accumulate() left a: the array that later passes read (contiguous, `count` elements).
  KOKKOS_INLINE_FUNCTION const float* accumulated() const {
    return kind == Kind::none ? gradient : kind == Kind::ef21 ? work : memory;
  }

  /// Reads a again, in any later pass of the same step.
  KOKKOS_INLINE_FUNCTION float load(index_t i) const { return accumulated()[i]; }

  /// Element i was sent and receivers decode `decoded` for it.
  KOKKOS_INLINE_FUNCTION void sent(index_t i, float a, float decoded) const {
    if (kind == Kind::none) return;
    memory[i] = kind == Kind::ef21 ? memory[i] + decoded : a - decoded;
    if (masking) velocity[i] = 0;
  }

  /// Element i was reported as sent, but the exchange dropped it: `decoded` did not take part in the mean.
  KOKKOS_INLINE_FUNCTION void returned(index_t i, float decoded) const {
    if (kind != Kind::none) memory[i] += kind == Kind::ef21 ? -decoded : decoded;
  }

  /// a and the new velocity of an element. If one of them is not finite, a is not finite.
  struct Sum {
    float a, velocity;
  };
  /// The sum for an element with a memory: g is the gradient, r the memory, u the velocity (or 0).
  KOKKOS_FORCEINLINE_FUNCTION Sum add(float g, float r, float u) const;
};

// The rules of sources with a memory, a type for each, which holds what the sum needs: kernels are templates on it and
// keep it in registers. moves: it has a velocity, if Source has one; in_memory: a takes the place of the memory.

struct ResidualRule {
  static constexpr bool moves = false, in_memory = true;
  float beta, gamma;
  KOKKOS_FORCEINLINE_FUNCTION explicit ResidualRule(const Source& source) : beta(source.beta), gamma(source.gamma) {}
  KOKKOS_FORCEINLINE_FUNCTION Source::Sum add(float g, float r, float /*u*/) const { return {beta * r + gamma * g, 0}; }
};

template <bool nesterov>
struct MomentumRule {
  static constexpr bool moves = true, in_memory = true;
  float gamma, m;
  KOKKOS_FORCEINLINE_FUNCTION explicit MomentumRule(const Source& source) : gamma(source.gamma), m(source.momentum) {}
  KOKKOS_FORCEINLINE_FUNCTION Source::Sum add(float g, float v, float u) const {
    const float x = gamma * g, next = nesterov ? m * (u + x) : m * u + x;
    return {nesterov ? v + (next + x) : v + next, next};
  }
};

struct Ef21Rule {
  static constexpr bool moves = true, in_memory = false;
  float gamma, m;
  KOKKOS_FORCEINLINE_FUNCTION explicit Ef21Rule(const Source& source) : gamma(source.gamma), m(source.momentum) {}
  KOKKOS_FORCEINLINE_FUNCTION Source::Sum add(float g, float h, float u) const {
    const float mean = m * u + (1 - m) * (gamma * g);  // without a velocity, m is 0
    return {mean - h, mean};
  }
};

/// use(rule) with the rule of a source with a memory.
template <class Use>
KOKKOS_FORCEINLINE_FUNCTION auto with_rule(const Source& source, const Use& use) {
  if (source.kind == Source::Kind::residual) return use(ResidualRule(source));
  if (source.kind == Source::Kind::ef21) return use(Ef21Rule(source));
  return source.nesterov ? use(MomentumRule<true>(source)) : use(MomentumRule<false>(source));
}

KOKKOS_FORCEINLINE_FUNCTION Source::Sum Source::add(float g, float r, float u) const {
  return with_rule(*this, [&](const auto& rule) { return rule.add(g, r, u); });
}

}  // namespace gradcomp
