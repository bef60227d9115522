#pragma once
// Figures of a method that depend on no clock. They are the same in every run, with any number of threads.
#include <cstdint>
#include <functional>
#include <string>

#include "gradcomp/exchange/one_rank.hpp"

namespace gradcomp::bench {

struct Deterministic {
  std::uint32_t payload = 0;  ///< CRC-32 of the messages of all rounds, in order, headers included
  std::uint32_t decoded = 0;  ///< CRC-32 of the decoded gradient, float by float, little endian
  double nmse = 0;            ///< |decoded - gradient|^2 / |gradient|^2 of the first step, 0 for a gradient of zeros
  index_t allocations = 0;    ///< allocations by Kokkos, of more than 0 bytes, in the phase of the third step
};

/// The number of allocations of more than 0 bytes by Kokkos in `work`. Profiling tools do not see these allocations.
index_t count_allocations(const std::function<void()>& work);

/// Makes three untimed steps of a new loop on the same gradient, each with an empty memory of feedback. The first gives
/// checksums and error; the third, which is like all later steps, gives the allocations. `phase`: compress, decompress
/// or pair. Under callgrind, its instructions in the third step are counted as `name`.
Deterministic deterministic(const Exec& exec, const MethodSpec& method, const Layout& layout,
                            const Span<const float>& gradient, std::uint64_t seed, const std::string& phase,
                            const std::string& name);

}  // namespace gradcomp::bench
