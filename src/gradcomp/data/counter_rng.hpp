#pragma once
// Counter-based random numbers for the host (order of the data, augmentation, generated data sets). Draw k of the
// stream (seed, a, b) is a pure function of these four numbers, so that it depends neither on threads nor on other
// draws. Compressors use the generator for devices, kernels/random/threefry.hpp.
#include <cstdint>

namespace gradcomp::data {

/// The finaliser of SplitMix64 (Steele, Lea, Flood 2014): a bijection of 64-bit words with full avalanche.
constexpr std::uint64_t mix64(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9U;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBU;
  return x ^ (x >> 31);
}

/// One stream of draws; `a` and `b` tell the streams of one seed apart.
class CounterRng {
 public:
  explicit CounterRng(std::uint64_t seed, std::uint64_t a = 0, std::uint64_t b = 0)
      : m_state(mix64(mix64(mix64(seed + golden) + a + golden) + b + golden)) {}

  std::uint64_t next() { return mix64(m_state += golden); }

  /// Uniform on the 2^24 floats k / 2^24 in [0, 1).
  float unit() { return static_cast<float>(next() >> 40) * 0x1p-24F; }

  /// Uniform integer in [0, n), n >= 1. There is no bias: the 2^64 mod n smallest words are rejected and drawn again.
  std::uint64_t below(std::uint64_t n) {
    const std::uint64_t reject = (0 - n) % n;  // 2^64 mod n
    std::uint64_t word = next();
    while (word < reject) word = next();
    return word % n;
  }

 private:
  static constexpr std::uint64_t golden = 0x9E3779B97F4A7C15U;
  std::uint64_t m_state;
};

}  // namespace gradcomp::data
