#pragma once
// Feedback: what a worker remembers of the gradient that it did not send. Owns the memories of one bucket and builds
// the Source that a compressor reads through.
#include <string>
#include <vector>

#include "gradcomp/core/compressor.hpp"
#include "gradcomp/feedback/memory_rate.hpp"

namespace gradcomp {

/// Options of the feedback, shared by all methods: the kinds and the default that `info` declares.
std::vector<Parameter> feedback_parameters(const Info& info);

/// Whether what was not sent is scaled when the learning rate changes. `common`: as Feedback's.
bool is_rate_aware(const ParameterValues& common);

/// True when the feedback applies the momentum, and the optimiser's must be off. `common`: as Feedback's.
bool holds_momentum(const ParameterValues& common);

class Feedback {
 public:
  /// Memories, all zero, for `count` elements. `common` holds the values of feedback_parameters(). Throws Error for
  /// options that do not go together.
  Feedback(const ParameterValues& common, index_t count);

  bool has_memory() const { return m_memory.size() > 0; }

  /// Call it before a step whose mean will be applied with `rate`: with feedback.rate_aware, the memory is scaled to
  /// this rate.
  void follow_rate(const Exec& exec, double rate) const { m_rate.follow(exec, rate, m_memory); }

  /// The source of one step. `gradient` has `count` elements, is complete, and outlives the step. With feedback.clip,
  /// its norm is computed (1 read, waits for exec) and the gradient scaled to at most clip / sqrt(ranks).
  Source source(const Exec& exec, const Span<const float>& gradient, int ranks) const;

  /// Call it after a step; does nothing if flags(0) != 0 (core/verdict.hpp), because the step is then skipped. `out` is
  /// the mean of the ranks' decoded messages; for ef21 it becomes the estimate of the mean gradient, the sum of all
  /// these means.
  void settle(const Exec& exec, const Span<float>& out, const Span<const std::uint32_t>& flags) const;

  /// Named memories, for checkpoints and the report of state bytes. The first one is Source::memory.
  Memories memories() const;
  /// Work space that is no memory.
  index_t scratch_bytes() const { return static_cast<index_t>(m_work.size()) * size_of(DType::f32); }

 private:
  Source m_rule;  ///< kind and weights, without arrays
  double m_clip = 0;
  MemoryRate m_rate;
  Vector<float> m_memory, m_velocity, m_work, m_estimate;
};

}  // namespace gradcomp
