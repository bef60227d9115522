#pragma once
// Options of gradcomp-evaluate, as its command line or a TOML file gives them.
#include <string>
#include <vector>

#include "gradcomp/evaluate/stream.hpp"

namespace gradcomp::evaluate {

struct Options {
  std::string methods = "all";     ///< list of specs, or all: every registered method with its defaults
  std::vector<std::string> input;  ///< .npy files, or folders of such
  std::vector<std::string> data;   ///< distributions of data/generated/synthetic.hpp
  index_t size = 1 << 20;          ///< elements of a synthetic gradient
  std::string layout;   ///< tensors of files and of synthetic gradients (read_layout); empty: their own, one vector
  index_t repeats = 1;  ///< draws of a synthetic gradient if there are no --residual-steps
  index_t residual_steps = 0;  ///< steps with feedback on files and synthetic data; 0: one gradient, no feedback
  TrainingOptions training;    ///< whose gradients are evaluated; without a model there is no training
  std::vector<index_t> at;     ///< steps of the training that have values of their own in the record
  index_t timings = 10;
  index_t trials = 0;  ///< trials of every gradient, without feedback and with fresh random numbers
  std::uint64_t seed = 1;
  double density_tolerance = 0;  ///< of the median of achieved / target density; 0: no limit
  std::string dump_folder;       ///< where payloads and decoded gradients go; empty: nowhere
  std::string output;
  bool wide = false;  ///< tables have all columns, and rows of any length

  /// Throws Error naming the option and what is allowed.
  void check() const;
  /// --methods with "all" written out.
  std::string method_list() const;
};

}  // namespace gradcomp::evaluate
