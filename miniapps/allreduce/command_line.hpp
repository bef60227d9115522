#pragma once
// The command line of gradcomp-allreduce.
#include <optional>
#include <string>
#include <vector>

#include "gradcomp/allreduce/allreduce_benchmark.hpp"
#include "gradcomp/method/spec.hpp"

struct CommandLine {
  std::string methods =
      "fp32,fp16,bf16,top_k:ratio=0.01,random_k:ratio=0.01,sidco:ratio=0.01,qsgd:bits=4,powersgd:rank=4";
  std::string reducers;  ///< "": the reducer of each method; or all, or names
  std::vector<gradcomp::index_t> sizes = {1 << 10, 1 << 14, 1 << 18, 1 << 22};  ///< elements
  gradcomp::ReductionOptions reduction;
  double density_tolerance = 0;
  std::string transport = "mpi", link, output;
  bool wide = false;      ///< the table has all columns, and rows of any length
  bool raw = false;       ///< also times the MPI library's own allreduce
  bool numerics = false;  ///< also simulates the error of dense methods with up to 512 ranks
};

/// Parses and checks, as gradcomp::parse() does (program/program.hpp).
std::optional<int> parse_command_line(int argc, char** argv, bool prints, CommandLine& line);

/// Sizes in elements of gradients of `least` to `most` bytes; each is `factor` times the one before. Throws Error for a
/// factor below 2, for fewer than 4 bytes and for an empty range.
std::vector<gradcomp::index_t> sizes_between(std::uint64_t least, std::uint64_t most, std::uint64_t factor);

/// Combines each of `methods` with each of `reducers` (all, or a comma-separated list) that can carry it, the default
/// first. If `reducers` is empty, returns the methods. Throws Error for an unknown reducer, and for a method that none
/// of the reducers can carry.
std::vector<gradcomp::MethodSpec> methods_with(const std::string& methods, const std::string& reducers);
