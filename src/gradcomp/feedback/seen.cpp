#include "gradcomp/feedback/seen.hpp"

#include "gradcomp/core/read_back.hpp"

namespace gradcomp {
namespace {

/// The array on the host; zeros if `device` is null.
std::vector<float> on_host(const Exec& exec, const float* device, index_t count) {
  std::vector<float> host(static_cast<std::size_t>(count));
  if (device == nullptr) return host;
  read_back(exec, Span<const float>(device, host.size()), host.data(), "gradcomp::feedback::seen_by_compressor");
  return host;
}

}  // namespace

std::vector<float> seen_by_compressor(const Exec& exec, const Source& source) {
  std::vector<float> seen = on_host(exec, source.gradient, source.count);
  if (source.kind == Source::Kind::none) return seen;
  const auto memory = on_host(exec, source.memory, source.count);
  const auto velocity = on_host(exec, source.velocity, source.count);
  for (std::size_t i = 0; i < seen.size(); ++i) {
    seen[i] = source.add(seen[i], memory[i], velocity[i]).a;
  }
  return seen;
}

}  // namespace gradcomp
