#pragma once
// Counter-based random numbers of the host side (data order, augmentation, the image generator): draw k of stream
// (seed, a, b) is a pure function of the four, so nothing depends on threads or on what was drawn before elsewhere.
// Compressors use the device generator, kernels/random/threefry.hpp.
#include <cstdint>

namespace gradcomp::data {

/// The finaliser of SplitMix64 (Steele, Lea, Flood 2014): a bijection of 64-bit words with full avalanche.
constexpr std::uint64_t mix64(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9U;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBU;
  return x ^ (x >> 31);
}

class CounterRng {
 public:
  explicit CounterRng(std::uint64_t seed, std::uint64_t a = 0, std::uint64_t b = 0)
      : m_state(mix64(mix64(mix64(seed + golden) + a + golden) + b + golden)) {}

  std::uint64_t next() { return mix64(m_state += golden); }

  /// Uniform on the 2^24 floats k / 2^24, 0 included, 1 not.
  float unit() { return static_cast<float>(next() >> 40) * 0x1p-24F; }

  /// Uniform integer in [0, n), n >= 1, without bias: draws of the incomplete last interval are repeated.
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
