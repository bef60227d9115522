// What the session provides for its cases: gradients, the read probe, cold caches and memory.
#include <fmt/ranges.h>

#include <algorithm>

#include "cache.hpp"
#include "case.hpp"
#include "gradcomp/kernels/linear_algebra/blas.hpp"

namespace gradcomp::bench {
namespace {

constexpr index_t unknown_cache = index_t{1} << 28;  ///< bytes to write if the sizes of caches are unknown

}  // namespace

Span<const float> Session::gradient(const Input& input) {
  if (m_held != input.name()) {
    m_held.clear();
    m_stream = {};  // freed before the new stream is made: two of the largest may not fit
    m_stream = make_stream(exec, input, options.seed, options.stream);
    m_probe = std::make_unique<ReadProbe>(input.elements);
    m_held = input.name();
  }
  return m_stream.rewind(exec);
}

void Session::next_gradient() { m_stream.next(exec); }

double Session::read_seconds(const Span<const float>& data) { return m_probe->seconds(exec, data); }

double Session::sgemm_peak() {
  constexpr int runs = 10;  // a single one, shorter than 100 ms, may end before the clock has reached its full rate
  if (m_sgemm_peak > 0) return m_sgemm_peak;
  for (int run = 0; run < runs; ++run) m_sgemm_peak = std::max(m_sgemm_peak, kernels::sgemm_peak(exec));
  return m_sgemm_peak;
}

index_t Session::samples(index_t count) const {
  if (options.samples > 0) return options.samples;
  return std::clamp<index_t>((index_t{1} << 26) / std::max<index_t>(count, 1), 10, 200);
}

void Session::evict() {
  if (options.cache != "cold") return;
  if (m_evictor.size() == 0) {
    const index_t cache = last_level_cache(exec);
    const auto floats = static_cast<std::size_t>(cache > 0 ? 2 * cache : unknown_cache) / sizeof(float);
    m_evictor = Vector<float>(Kokkos::view_alloc(Kokkos::WithoutInitializing, "gradcomp::bench::evictor"), floats);
  }
  const auto evictor = m_evictor;
  Kokkos::parallel_for(
      "gradcomp::bench::evict", IndexRange(exec, 0, static_cast<index_t>(evictor.size())),
      KOKKOS_LAMBDA(const index_t i) { evictor(i) = 1.0f; });
  exec.fence("gradcomp::bench::evict");
}

bool Session::fits(const Input& input, const std::string& what, double bytes_per_element) {
  if (bytes_per_element * static_cast<double>(input.elements) <= memory_bytes) return true;
  m_misfits[input.name()].push_back(what);
  return false;
}

void Session::explain_misfits() {
  for (const auto& input : inputs) {
    const auto found = m_misfits.find(input.name());
    if (found == m_misfits.end()) continue;
    left_out.push_back(fmt::format("{} elements: no memory ({:.3g} GB may be used) for {}", input.name(),
                                   1e-9 * memory_bytes, fmt::join(found->second, ", ")));
  }
  m_misfits.clear();
}

}  // namespace gradcomp::bench
