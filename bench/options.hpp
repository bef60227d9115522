#pragma once
#include <optional>
#include <string>
#include <vector>

#include "gradcomp/core/types.hpp"
#include "gradcomp/report/json.hpp"

namespace gradcomp::bench {

struct BenchOptions {
  std::vector<index_t> sizes;  ///< elements of a gradient
  std::string methods;         ///< specs; every registered method when empty
  std::string filter = ".*";   ///< regular expression on case names
  std::string output;          ///< JSON file, none when empty
  int samples = 0;             ///< timed calls per case; 0: chosen by size
  std::uint64_t seed = 1;
  bool quick = false, list = false;

  report::Json json() const;
};

/// Parses the arguments that Kokkos left. Returns an exit status when the program is done
/// (--help, --version); throws Error for what is not allowed.
std::optional<int> parse(int argc, char** argv, BenchOptions& options);

}  // namespace gradcomp::bench
