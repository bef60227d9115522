#include "gradient.hpp"

namespace gradcomp::bench {
namespace {

/// SplitMix64 (Steele et al. 2014): input data only; methods draw from Threefry.
KOKKOS_INLINE_FUNCTION std::uint64_t split_mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

}  // namespace

Vector<float> laplace_gradient(const Exec& exec, index_t count, std::uint64_t seed) {
  Vector<float> gradient("gradcomp::bench::gradient", static_cast<std::size_t>(count));
  Kokkos::parallel_for(
      "gradcomp::bench::laplace_gradient", Kokkos::RangePolicy<Exec, Kokkos::IndexType<index_t>>(exec, 0, count),
      KOKKOS_LAMBDA(const index_t i) {
        const std::uint64_t bits = split_mix(split_mix(seed) + static_cast<std::uint64_t>(i));
        const double uniform = (static_cast<double>(bits >> 11) + 0.5) * 0x1p-53;  // in (0, 1)
        const double magnitude = -1e-3 * Kokkos::log(uniform);
        gradient(i) = static_cast<float>((bits & 1u) != 0 ? magnitude : -magnitude);
      });
  return gradient;
}

}  // namespace gradcomp::bench
