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
  index_t senders = 1;               ///< messages that a call of decompress() adds up
  index_t stream = 8;                ///< gradients that the calls of a case use in turn
  std::string methods;               ///< specs; empty: every registered method
  std::string filter = ".*";         ///< regular expression on case names
  std::string output;                ///< JSON file; empty: none
  std::string model_folder;          ///< where train_step cases write their models and batches; empty: nowhere
  std::string residual = "default";  ///< on or off for every method; default: what the method declares
  std::string cache = "warm";        ///< cold: the last-level cache is overwritten before every timed call
  int samples = 0;                   ///< timed calls per case; 0: chosen by size
  int threads = 0;                   ///< of Kokkos; 0: Kokkos chooses
  double memory_gb = 0;              ///< memory that a case may use; 0: the free memory
  std::uint64_t seed = 1;
  bool quick = false, full = false, machine = false, interleave = false, list = false;

  report::Json json() const;
};

/// Parses the arguments that are not for Kokkos, as gradcomp::parse() does (program/program.hpp).
std::optional<int> parse(int argc, char** argv, BenchOptions& options);

/// Sizes of --full: powers of four from 2^10 on, 2^27, two sizes that are no powers of two, and the tensors of
/// ResNet-18.
std::vector<index_t> full_sizes();

}  // namespace gradcomp::bench
