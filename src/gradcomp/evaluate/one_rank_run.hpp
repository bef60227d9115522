#pragma once
// One method on one rank, step by step.
#include <vector>

#include "gradcomp/exchange/one_rank.hpp"

namespace gradcomp::evaluate {

/// `count` floats at `device` on the host.
std::vector<float> copied(const float* device, std::size_t count);

/// A method on one rank, with its memories, and the time of its last step.
struct OneRankRun {
  OneRankRun(const MethodSpec& spec, const Layout& layout, std::uint64_t seed) : rank(spec, layout, seed) {}

  /// All rounds of one step on `gradient`; out() receives what was decoded (with ef21 a difference, not the estimate).
  /// The messages are copied to `bytes` unless it is null. Throws Error if the method flags the step.
  void step(const Exec& exec, const Span<const float>& gradient, std::int64_t number, std::vector<std::byte>* bytes);

  /// What was decoded, on the host.
  std::vector<float> decoded() const { return copied(rank.out().data(), rank.out().size()); }
  /// The source of a step on `gradient`.
  Source source(const Exec& exec, const Span<const float>& gradient) const {
    return rank.sender().source_of(exec, gradient, 1);
  }

  OneRank rank;
  double compress_ms = 0, decompress_ms = 0;  ///< of the last step
};

}  // namespace gradcomp::evaluate
