#pragma once
// Gradients of a training run as .npy files (--dump-gradients): what rank 0 computed, and what its compressor saw of
// it. FOLDER/layout.txt holds the tensors, as gradcomp-evaluate --layout reads them.
#include <string>
#include <utility>
#include <vector>

#include "gradcomp/exchange/buckets.hpp"
#include "gradcomp/feedback/feedback.hpp"
#include "gradcomp/train/options.hpp"

namespace gradcomp::train {

/// Makes the folder on rank 0. Throws Error if files cannot be written there, if two methods would write the same
/// names, or if a method's strategy does not exchange the gradient of each step. Does nothing without a folder.
void check_dumps(const Options& options, const std::vector<MethodSpec>& methods, int rank);

/// The files of one method. Only rank 0 writes.
class GradientDump {
 public:
  /// Writes the layout.
  GradientDump(const Options& options, const MethodSpec& method, const Layout& layout, int rank, int ranks);

  /// True when this rank writes at `step`.
  bool wanted(index_t step) const;

  /// Call it before a step: copies those of `memories` that belong to the feedback.
  void keep_memories(const Exec& exec, const Memories& memories, double rate);

  /// Call it after the step: writes FOLDER/LABEL_stepSTEP_gradient.npy. If the method has feedback, also writes what
  /// its compressor saw (with feedback=residual: beta residual + gamma gradient) as
  /// FOLDER/LABEL_stepSTEP_accumulated.npy. Waits for `exec`.
  void write(const Exec& exec, const Span<const float>& gradient, index_t step) const;

 private:
  std::string m_stem;  ///< folder and label; empty: nothing is written
  std::vector<index_t> m_steps;
  ParameterValues m_common;  ///< of the method
  std::vector<BucketRange> m_buckets;
  int m_ranks = 1;
  std::vector<std::pair<BucketRange, Feedback>> m_before;  ///< buckets as they were before the step
};

}  // namespace gradcomp::train
