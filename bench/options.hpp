#pragma once
#include <optional>
#include <string>
#include <vector>

#include "gradcomp/core/types.hpp"
#include "gradcomp/report/json.hpp"

namespace gradcomp::bench {

struct BenchOptions {
  std::vector<index_t> sizes;        ///< elements of a synthetic gradient
  std::vector<std::string> data;     ///< laplace, or paths of .npy files
  index_t stream = 8;                ///< gradients that the calls of a case walk through
  std::string methods;               ///< specs; every registered method when empty
  std::string filter = ".*";         ///< regular expression on case names
  std::string output;                ///< JSON file, none when empty
  std::string residual = "default";  ///< on, off: for every method; default: what the method declares
  std::string cache = "warm";        ///< cold: the last-level cache is overwritten before every timed call
  int samples = 0;                   ///< timed calls per case; 0: chosen by size
  int threads = 0;                   ///< of Kokkos; 0: Kokkos chooses
  double memory_gb = 0;              ///< what cases may take; 0: what is free
  std::uint64_t seed = 1;
  bool quick = false, full = false, machine = false, interleave = false, list = false;

  report::Json json() const;
};

/// Parses the arguments that are not Kokkos' (program/arguments.hpp). Returns an exit status when the program is done
/// (--help, --version); throws Error for what is not allowed.
std::optional<int> parse(int argc, char** argv, BenchOptions& options);

/// Sizes of --full: powers of four from 2^10 on, 2^27, two that are none, and the tensors of ResNet-18.
std::vector<index_t> full_sizes();

}  // namespace gradcomp::bench
