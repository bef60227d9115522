#pragma once
// Figures of a method that depend on no clock: the same in every run, for any number of threads.
#include <cstdint>
#include <functional>
#include <string>

#include "gradcomp/exchange/one_rank.hpp"

namespace gradcomp::bench {

struct Deterministic {
  std::uint32_t payload = 0;  ///< CRC-32 of the messages of all rounds, one after the other, headers included
  std::uint32_t decoded = 0;  ///< CRC-32 of the decoded gradient, float by float, little endian
  double nmse = 0;            ///< |decoded - gradient|^2 / |gradient|^2 of the first step, 0 for a gradient of zeros
  index_t allocations = 0;    ///< of Kokkos, within the phase, in the third step
};

/// Allocations of Kokkos within `work`. A profiling tool that listens to them hears none of these.
index_t count_allocations(const std::function<void()>& work);

/// Three untimed steps of a fresh loop on the same gradient, without what the step before left in a feedback's memory:
/// checksums and error of the first, allocations of the third, which is the steady state. `phase`: compress, decompress
/// or pair; under callgrind its instructions in the third step are counted as `name`.
Deterministic deterministic(const Exec& exec, const MethodSpec& method, const Layout& layout,
                            const Span<const float>& gradient, std::uint64_t seed, const std::string& phase,
                            const std::string& name);

}  // namespace gradcomp::bench
