#include "gradient.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

namespace gradcomp::bench {
namespace {

/// SplitMix64 (Steele et al. 2014), only for input data; methods draw from Threefry.
KOKKOS_INLINE_FUNCTION std::uint64_t split_mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

/// now = of_x x + of_y y
void mix(const Exec& exec, const Vector<float>& now, float of_x, const Vector<float>& x, float of_y,
         const Vector<float>& y) {
  Kokkos::parallel_for(
      "gradcomp::bench::mix", IndexRange(exec, 0, static_cast<index_t>(now.size())),
      KOKKOS_LAMBDA(const index_t i) { now(i) = of_x * x(i) + of_y * y(i); });
}

}  // namespace

Vector<float> laplace_gradient(const Exec& exec, index_t count, std::uint64_t seed) {
  Vector<float> gradient("gradcomp::bench::gradient", static_cast<std::size_t>(count));
  Kokkos::parallel_for(
      "gradcomp::bench::laplace_gradient", IndexRange(exec, 0, count), KOKKOS_LAMBDA(const index_t i) {
        const std::uint64_t bits = split_mix(split_mix(seed) + static_cast<std::uint64_t>(i));
        const double uniform = (static_cast<double>(bits >> 11) + 0.5) * 0x1p-53;  // in (0, 1)
        const double magnitude = -1e-3 * Kokkos::log(uniform);
        gradient(i) = static_cast<float>((bits & 1u) != 0 ? magnitude : -magnitude);
      });
  return gradient;
}

GradientStream::GradientStream(const Exec& exec, index_t count, std::uint64_t seed, index_t length)
    : m_now(laplace_gradient(exec, count, seed)), m_length(length) {
  if (length == 1) return;
  m_x = m_now;
  m_y = laplace_gradient(exec, count, ~seed);
  m_now = Vector<float>("gradcomp::bench::gradient", m_x.size());
  write(exec, 0);
}

GradientStream::GradientStream(const Exec& exec, Recorded recorded, index_t length)
    : m_now("gradcomp::bench::gradient", recorded->front().size()),
      m_recorded(std::move(recorded)),
      m_length(std::min(length, static_cast<index_t>(m_recorded->size()))) {
  write(exec, 0);
}

void GradientStream::write(const Exec& exec, index_t step) {
  m_step = step;
  if (m_recorded != nullptr) {
    const auto& values = (*m_recorded)[static_cast<std::size_t>(step)];
    Kokkos::deep_copy(exec, m_now, HostSpan<const float>(values.data(), values.size()));
  } else if (m_length > 1) {
    const double angle = 2 * std::numbers::pi * static_cast<double>(step) / static_cast<double>(m_length);
    const double scale = 1 + std::sin(angle) / 4;
    const auto of_x = static_cast<float>(scale * std::cos(angle)), of_y = static_cast<float>(scale * std::sin(angle));
    mix(exec, m_now, of_x, m_x, of_y, m_y);
  }
  exec.fence("gradcomp::bench::GradientStream");
}

Span<const float> GradientStream::rewind(const Exec& exec) {
  if (m_step != 0) write(exec, 0);
  return Span<const float>(m_now.data(), m_now.size());
}

Span<const float> GradientStream::next(const Exec& exec) {
  if (m_length > 1) write(exec, (m_step + 1) % m_length);
  return Span<const float>(m_now.data(), m_now.size());
}

}  // namespace gradcomp::bench
