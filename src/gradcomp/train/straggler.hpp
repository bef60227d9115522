#pragma once
// Ranks that are slower than others: computation is lengthened by sleeping, layer by layer, so that buckets become
// ready late as they would on a slower device. A core that sleeps is free for others: on a machine whose ranks share
// cores a straggler makes the others faster, which a slow device would not.
#include <string>

#include "gradcomp/core/types.hpp"

namespace gradcomp::train {

/// --straggler rank=1,factor=2,jitter=0.3
struct StragglerOptions {
  int rank = -1;      ///< that is always slow; -1: none
  double factor = 1;  ///< of its time for forward and backward
  double jitter = 0;  ///< every rank's time in every step is lengthened by this share of it times -ln(u), u uniform

  bool is_set() const { return rank >= 0 || jitter > 0; }
  /// Throws Error naming the option and what is allowed. Empty text: no straggler.
  static StragglerOptions parse(const std::string& text);
};

class Straggler {
 public:
  Straggler(const StragglerOptions& options, std::uint64_t seed, int rank)
      : m_options(options), m_seed(seed), m_rank(rank) {}

  /// How much longer this rank computes in a step: 1 as it is. A function of seed, rank and step alone.
  double factor(index_t step) const;

  /// Computation of `step` begins.
  void begin(index_t step);
  /// Computation stops here for something else: makes up for what it took since begin() or resume(). Waits for exec.
  void pause(const Exec& exec);
  /// Computation goes on.
  void resume();

 private:
  StragglerOptions m_options;
  std::uint64_t m_seed;
  int m_rank;
  double m_factor = 1;
  double m_since = 0;  ///< now_seconds()
  double m_owed = 0;   ///< seconds that are still to be slept
};

}  // namespace gradcomp::train
