#include "conformance/listening.hpp"

#include <Kokkos_Core.hpp>
#include <string_view>

namespace gradcomp::conformance {
namespace {

Heard now;

void on_fence(const char* name, std::uint32_t, std::uint64_t*) {
  const std::string_view label(name);
  // Kokkos::Tools fences before each launch that is recorded.
  for (const char* own : {"Kokkos::deep_copy", "Kokkos::Impl", "Kokkos::Tools"})
    if (label.starts_with(own)) return;
  now.waits.emplace_back(label);
}

void on_launch(const char* name, std::uint32_t, std::uint64_t*) {
  now.launches += std::string_view(name).starts_with("gradcomp::") ? 1 : 0;
}

}  // namespace

Listening::Listening() {
  now = {};
  Kokkos::Tools::Experimental::set_begin_fence_callback(on_fence);
  Kokkos::Tools::Experimental::set_begin_parallel_for_callback(on_launch);
  Kokkos::Tools::Experimental::set_begin_parallel_reduce_callback(on_launch);
  Kokkos::Tools::Experimental::set_begin_parallel_scan_callback(on_launch);
}

Listening::~Listening() {
  Kokkos::Tools::Experimental::set_begin_fence_callback(nullptr);
  Kokkos::Tools::Experimental::set_begin_parallel_for_callback(nullptr);
  Kokkos::Tools::Experimental::set_begin_parallel_reduce_callback(nullptr);
  Kokkos::Tools::Experimental::set_begin_parallel_scan_callback(nullptr);
}

const Heard& Listening::heard() const { return now; }

}  // namespace gradcomp::conformance
