#pragma once
// Makes ranks slower than others: they sleep after each layer, so that buckets become ready late, as on a slower
// device. A sleeping core is free for other ranks. So if ranks share cores, a straggler makes the others faster, unlike
// a slow device.
#include <string>

#include "gradcomp/core/types.hpp"

namespace gradcomp::train {

/// --straggler rank=1,factor=2,jitter=0.3
struct StragglerOptions {
  int rank = -1;      ///< the rank that is always slow; -1: none
  double factor = 1;  ///< of this rank's time for forward and backward
  double jitter = 0;  ///< lengthens the time of every rank and step by this share times -ln(u), u uniform

  bool is_set() const { return rank >= 0 || jitter > 0; }
  /// Throws Error naming the option and what is allowed. Empty text: no straggler.
  static StragglerOptions parse(const std::string& text);
};

class Straggler {
 public:
  Straggler(const StragglerOptions& options, std::uint64_t seed, int rank)
      : m_options(options), m_seed(seed), m_rank(rank) {}

  /// The factor by which this rank computes longer in a step; 1: not at all. Depends only on seed, rank and step.
  double factor(index_t step) const;

  /// Computation of `step` begins.
  void begin(index_t step);
  /// Computation pauses for something else: sleeps for the computation since begin() or resume(). Waits for exec.
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
