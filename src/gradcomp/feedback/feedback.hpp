#pragma once
// Feedback: what a worker remembers of the gradient that it did not send. Owns the memory of one bucket and builds the
// Source that a compressor reads through.
#include <string>
#include <vector>

#include "gradcomp/core/compressor.hpp"

namespace gradcomp {

/// Options of the feedback, shared by all methods; `default_kind` is what the method's info() declares.
std::vector<Parameter> feedback_parameters(const std::string& default_kind);

class Feedback {
 public:
  /// Memory, all zero, for `count` elements. `common` holds the values of feedback_parameters().
  Feedback(const Options& common, index_t count);

  /// The source of one step. `gradient` has `count` elements and outlives the step.
  Source source(const Span<const float>& gradient) const;

  /// Named memories, for checkpoints and the report of state bytes.
  std::vector<StateView> persistent() const;

 private:
  Source::Kind m_kind = Source::Kind::none;
  float m_beta = 1, m_gamma = 1;
  index_t m_count = 0;
  Vector<float> m_residual;
};

}  // namespace gradcomp
