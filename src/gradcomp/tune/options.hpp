#pragma once
// What a tuning tries, for a training with given options.
#include "gradcomp/train/options.hpp"

namespace gradcomp::tune {

struct Options {
  train::Options train;       ///< the later training; train.rates is the file that the tuning writes
  index_t steps = 200;        ///< of one trial
  index_t trials = 6;         ///< rates that are tried for every method
  index_t seeds = 3;          ///< of one trial
  bool buckets_only = false;  ///< time bucket sizes, and try no rates

  /// The seeds of trials. No result may use them.
  std::vector<std::uint64_t> trial_seeds() const;

  /// Throws Error naming the option and what is allowed.
  void check() const;
};

}  // namespace gradcomp::tune
