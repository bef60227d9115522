#pragma once
// A simulated rank, and a step of several such ranks in one process. This exchange is written independently of
// src/gradcomp/exchange, so that it can reveal faults there.
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "conformance/guarded.hpp"
#include "gradcomp/feedback/feedback.hpp"
#include "gradcomp/method/spec.hpp"

namespace gradcomp::conformance {

struct SimulatedRank {
  SimulatedRank(const MethodSpec& method, const Layout& layout);

  void set_gradient(const std::vector<float>& values);
  Source source() const { return feedback.source(Exec(), gradient, 1); }
  Step step(const Context& context, const FaultCounts& faults = {}) const {
    return {source(), out.span(), context, faults};
  }
  /// The residual, or an empty vector without one.
  std::vector<float> memory() const;
  /// a = beta r + gamma g in the next step, with the default beta and gamma.
  std::vector<float> accumulated() const;

  std::shared_ptr<const Compressor> compressor;
  index_t count;
  std::unique_ptr<State> state;
  Feedback feedback;
  Vector<float> gradient;
  Guarded<float> out;
  Message message;
};

/// The results of one step, per rank.
struct StepResult {
  int diverged = 0;                              ///< number of ranks that have seen that a gradient was not finite
  std::vector<std::vector<float>> out;           ///< the estimates of the mean
  std::vector<std::vector<std::byte>> messages;  ///< the messages of all rounds, one after the other
  std::vector<index_t> kept;                     ///< entries of bytes messages, from their headers
  int allocations = 0;                           ///< device allocations inside the compressor's functions
  bool ok() const { return diverged == 0; }
};

/// `count` ranks of one method.
std::vector<SimulatedRank> make_ranks(const MethodSpec& method, const Layout& layout, int count);

/// One step of all ranks on the gradients they hold.
StepResult run_step(std::vector<SimulatedRank>& ranks, std::int64_t step, std::uint64_t seed = 1);

/// Gives rank r the named data with seed + r, so that ranks differ.
void set_gradients(std::vector<SimulatedRank>& ranks, const std::string& data, std::uint64_t seed);

}  // namespace gradcomp::conformance
