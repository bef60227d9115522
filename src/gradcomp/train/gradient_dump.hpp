#pragma once
// Gradients of a training run as .npy files (--dump-gradients): what rank 0 computed, and what its compressor saw of
// it.
#include <string>
#include <vector>

#include "gradcomp/exchange/schedule.hpp"
#include "gradcomp/train/options.hpp"

namespace gradcomp::train {

/// Makes the folder on rank 0 and checks that files can be written there and that every method gets names of its own.
/// Throws Error. Does nothing without a folder.
void check_dumps(const Options& options, const std::vector<MethodSpec>& methods, int rank);

/// The files of one method. Does nothing on other ranks than 0.
class GradientDump {
 public:
  GradientDump(const Options& options, const MethodSpec& method, int rank);

  /// True when this rank writes at `step`.
  bool wanted(index_t step) const;

  /// Before the step: copies the residuals of all buckets, where the feedback has them. `count`: elements of the model.
  void keep_memories(const Exec& exec, Schedule& schedule, std::size_t count);

  /// After it: FOLDER/LABEL_stepSTEP_gradient.npy, and FOLDER/LABEL_stepSTEP_accumulated.npy = beta residual + gamma
  /// gradient with feedback=residual. Fences `exec`.
  void write(const Exec& exec, const Span<const float>& gradient, index_t step) const;

 private:
  std::string m_stem;  ///< folder and label; empty: nothing is written
  std::vector<index_t> m_steps;
  bool m_has_residual = false;
  float m_beta = 1, m_gamma = 1;
  std::vector<float> m_residual;  ///< of all buckets, in the order of the model
};

}  // namespace gradcomp::train
