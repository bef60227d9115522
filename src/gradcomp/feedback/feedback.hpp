#pragma once
// Feedback: what a rank remembers of the gradient that it did not send. It owns the memories of one bucket and builds
// the Source that a compressor reads.
#include <memory>
#include <string>
#include <vector>

#include "gradcomp/core/compressor.hpp"
#include "gradcomp/feedback/memory_rate.hpp"

namespace gradcomp {

namespace kernels {
class NormClip;
}

/// The parameters `feedback` and `feedback.<key>`, which all methods share. `info` declares the allowed kinds and the
/// default.
std::vector<Parameter> feedback_parameters(const Info& info);

/// Whether the unsent part is scaled when the learning rate changes. `common`: as in Feedback.
bool is_rate_aware(const ParameterValues& common);

/// Whether the feedback applies the momentum, so that the optimiser's must be off. `common`: as in Feedback.
bool holds_momentum(const ParameterValues& common);

class Feedback {
 public:
  /// Makes the memories for `count` elements, all zero. `common` holds the values of feedback_parameters(). Throws
  /// Error if options exclude each other.
  Feedback(const ParameterValues& common, index_t count);

  bool has_memory() const { return m_memory.size() > 0; }

  /// Call it before a step whose mean will be applied with `rate`. With feedback.rate_aware, it scales the memory to
  /// this rate.
  void follow_rate(const Exec& exec, double rate) const { m_rate.follow(exec, rate, m_memory); }

  /// The source of one step. `gradient` has `count` elements, is complete, and outlives the step. With feedback.clip,
  /// a copy of it that is scaled to a norm of at most clip / sqrt(ranks) takes its place (3 reads, 2 writes).
  Source source(const Exec& exec, const Span<const float>& gradient, int ranks) const;

  /// Call it after a step. `mean` is the mean of the ranks' decoded messages. For ef21 it becomes the estimate of the
  /// mean gradient, which is the sum of these means over all steps.
  void follow_mean(const Exec& exec, const Span<float>& mean) const;

  /// Named memories, for checkpoints and the report of state bytes. The first one is Source::memory.
  Memories memories() const;
  /// Bytes of the work space, which is no memory.
  index_t scratch_bytes() const { return static_cast<index_t>(m_work.size() + m_clipped.size()) * size_of(DType::f32); }

 private:
  Source m_rule;  ///< kind and weights, without arrays
  double m_clip = 0;
  std::shared_ptr<const kernels::NormClip> m_norm;  ///< null without feedback.clip
  MemoryRate m_rate;
  Vector<float> m_memory, m_velocity, m_work, m_estimate, m_clipped;
};

}  // namespace gradcomp
