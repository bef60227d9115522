#pragma once
// What a step does to its device, as Kokkos Tools hear it: seen on hosts too, whose builds have the same fences and
// launches.
#include <string>
#include <vector>

namespace gradcomp::conformance {

struct Heard {
  /// Names of the fences: those of core/read_back.hpp, and of reductions to a variable of the host.
  std::vector<std::string> waits;
  int launches = 0;  ///< of the suite's own kernels
};

/// Hears what happens in its lifetime; one at a time.
class Listening {
 public:
  Listening();
  ~Listening();
  const Heard& heard() const;
};

}  // namespace gradcomp::conformance
