#pragma once
// What a step does to its device, recorded by the callbacks of Kokkos Tools. Host builds have the same fences and
// launches, so this works on hosts too. What a host launches behind a pass, and a device does in the same launch
// (kernels/lanes/tile_groups.hpp), has a label that begins with "then" and is not counted.
#include <string>
#include <vector>

namespace gradcomp::conformance {

struct Heard {
  /// Names of the fences: those of core/read_back.hpp, and those of reductions to a variable of the host.
  std::vector<std::string> waits;
  int launches = 0;  ///< launches of kernels of this project
};

/// Records what happens during its lifetime. Only one may exist at a time.
class Listening {
 public:
  Listening();
  ~Listening();
  const Heard& heard() const;
};

}  // namespace gradcomp::conformance
