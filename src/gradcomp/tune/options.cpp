#include "gradcomp/tune/options.hpp"

#include "gradcomp/core/error.hpp"

namespace gradcomp::tune {

std::vector<std::uint64_t> Options::trial_seeds() const {
  std::vector<std::uint64_t> all;
  for (index_t i = 0; i < seeds; ++i) all.push_back(train::first_trial_seed + static_cast<std::uint64_t>(i));
  return all;
}

void Options::check() const {
  train.check();
  require(!train.rates.empty(), "--rates is missing; allowed: the file that gets the learning rates and bucket sizes");
  require(trials >= 3, "--tune-trials {} is not allowed; allowed: at least 3", trials);
  require(seeds >= 2, "--tune-seeds {} is not allowed; allowed: at least 2", seeds);
  require(steps >= 1 && steps % train.accumulate == 0,
          "--tune-steps {} is not allowed; allowed: at least 1, and a multiple of --accumulate ({})", steps,
          train.accumulate);
  require(train.controls || !buckets_only, "--buckets-only is not allowed with --no-controls");
}

}  // namespace gradcomp::tune
