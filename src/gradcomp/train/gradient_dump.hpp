#pragma once
// Gradients of a training run as .npy files (--dump-gradients): what rank 0 computed, and what its compressor saw of
// it.
#include <string>
#include <utility>
#include <vector>

#include "gradcomp/exchange/buckets.hpp"
#include "gradcomp/feedback/feedback.hpp"
#include "gradcomp/train/options.hpp"

namespace gradcomp::train {

/// Makes the folder on rank 0 and checks that files can be written there and that every method gets names of its own.
/// Throws Error. Does nothing without a folder.
void check_dumps(const Options& options, const std::vector<MethodSpec>& methods, int rank);

/// The files of one method. Does nothing on other ranks than 0.
class GradientDump {
 public:
  GradientDump(const Options& options, const MethodSpec& method, const Layout& layout, int rank, int ranks);

  /// True when this rank writes at `step`.
  bool wanted(index_t step) const;

  /// Before a step at this learning rate: copies those of `memories` that are the feedback's.
  void keep_memories(const Exec& exec, const Memories& memories, double rate);

  /// After it: FOLDER/LABEL_stepSTEP_gradient.npy, and where the method has feedback what its compressor saw (with
  /// feedback=residual beta residual + gamma gradient) as FOLDER/LABEL_stepSTEP_accumulated.npy. Waits for `exec`.
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
