#include "gradcomp/nn/networks/initialise.hpp"

#include <cmath>
#include <numbers>

namespace gradcomp::nn {
namespace {

constexpr std::uint64_t golden_ratio = 0x9e3779b97f4a7c15u;

std::uint64_t mix(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

/// Uniform in (0, 1]. 0 is excluded, because normal() takes the logarithm.
double uniform(std::uint64_t stream, std::uint64_t counter) {
  return static_cast<double>((mix(stream + counter * golden_ratio) >> 11) + 1) * 0x1p-53;
}

}  // namespace

double normal(std::uint64_t seed, index_t segment, index_t index) {
  const std::uint64_t stream = mix(mix(seed + golden_ratio) + static_cast<std::uint64_t>(segment));
  const std::uint64_t counter = 2 * static_cast<std::uint64_t>(index) + 1;
  const double radius = std::sqrt(-2 * std::log(uniform(stream, counter)));
  return radius * std::cos(2 * std::numbers::pi * uniform(stream, counter + 1));
}

double uniform(std::uint64_t seed, index_t segment, index_t index) {
  const std::uint64_t stream = mix(mix(seed + golden_ratio) + static_cast<std::uint64_t>(segment));
  return uniform(stream, 2 * static_cast<std::uint64_t>(index) + 1);
}

template <class T>
void initialise_parameters(const Layout& layout, std::uint64_t seed, const HostSpan<T>& parameters) {
  for (const Segment& segment : layout.segments) {
    const double deviation = segment.is_matrix() ? std::sqrt(2.0 / static_cast<double>(segment.rows())) : 0;
    const T constant = segment.name.ends_with(".weight") ? T(1) : T(0);  // a vector called weight is a scale
    for (index_t i = 0; i < segment.count; ++i) {
      parameters(segment.offset + i) =
          segment.is_matrix() ? static_cast<T>(deviation * normal(seed, segment.id, i)) : constant;
    }
  }
}

template void initialise_parameters<float>(const Layout&, std::uint64_t, const HostSpan<float>&);
template void initialise_parameters<double>(const Layout&, std::uint64_t, const HostSpan<double>&);

}  // namespace gradcomp::nn
