#include "deterministic.hpp"

#include <atomic>
#include <vector>

#include "callgrind.hpp"
#include "gradcomp/allreduce/allreduce_benchmark.hpp"
#include "gradcomp/core/copies.hpp"
#include "gradcomp/data/files.hpp"

namespace gradcomp::bench {
namespace {

std::atomic<index_t> counted{0};

/// Continues `crc` with `bytes` bytes of device memory.
std::uint32_t checksum(const Exec& exec, const void* data, index_t bytes, std::uint32_t crc) {
  if (bytes == 0) return crc;
  const Span<const std::uint8_t> device(static_cast<const std::uint8_t*>(data), static_cast<std::size_t>(bytes));
  const auto host = to_host(exec, device, "gradcomp::bench::checksum");
  return data::crc32(host.data(), host.size(), crc);
}

}  // namespace

index_t count_allocations(const std::function<void()>& work) {
  const auto before = Kokkos::Tools::Experimental::get_callbacks();
  counted = 0;
  Kokkos::Tools::Experimental::set_allocate_data_callback(
      [](const Kokkos_Profiling_SpaceHandle, const char*, const void*, const std::uint64_t bytes) {
        // On GPUs, Kokkos reports one of 0 bytes for every launch of teams that want no scratch memory.
        if (bytes > 0) ++counted;
      });
  try {
    work();
  } catch (...) {
    Kokkos::Tools::Experimental::set_callbacks(before);
    throw;
  }
  Kokkos::Tools::Experimental::set_callbacks(before);
  return counted;
}

Deterministic deterministic(const Exec& exec, const MethodSpec& method, const Layout& layout,
                            const Span<const float>& gradient, std::uint64_t seed, const std::string& phase,
                            const std::string& name) {
  Deterministic found;
  OneRank loop(method, layout, seed);
  loop.on_message([&](const Message& message) {
    const bool summable = message.kind == MessageKind::summable;
    found.payload = checksum(exec, summable ? message.data : message.payload.data(), message.bytes(), found.payload);
  });
  loop.forget(exec);
  loop.compress(exec, gradient);
  loop.on_message(nullptr);
  loop.decompress(exec);
  found.decoded = checksum(exec, loop.out().data(), static_cast<index_t>(sizeof(float) * loop.out().size()), 0);
  const auto [error, norm] = distance(exec, loop.out(), gradient);
  found.nmse = norm > 0 ? error / norm : 0;

  loop.forget(exec);
  loop.compress(exec, gradient);
  loop.decompress(exec);

  loop.forget(exec);
  if (phase == "decompress") loop.compress(exec, gradient);
  exec.fence("gradcomp::bench::deterministic");
  found.allocations = count_allocations([&] {
    begin_instructions();
    if (phase != "decompress") loop.compress(exec, gradient);
    if (phase != "compress") loop.decompress(exec);
    exec.fence("gradcomp::bench::deterministic");
    end_instructions(name.c_str());
  });
  return found;
}

}  // namespace gradcomp::bench
