#pragma once
// Writes losses of training samples as .npy files (--dump-importance). They show how importance is spread over samples,
// and how it changes.
#include <memory>
#include <string>
#include <vector>

#include "gradcomp/train/importance_pass.hpp"

namespace gradcomp::train {

/// The files of one method. Only rank 0 writes.
class LossDump {
 public:
  LossDump(const Job& job, const MethodSpec& method);

  /// True when this rank writes at `step`.
  bool wanted(index_t step) const;

  /// Writes FOLDER/LABEL_stepSTEP_losses.npy: the loss, with these parameters, of each sample that this rank had at the
  /// start, in ascending order of their numbers. Takes a forward pass over all of them.
  void write(const Exec& exec, const Span<const float>& parameters, const Span<const float>& buffers, index_t step);

 private:
  std::string m_stem;  ///< folder and label; empty: nothing is written
  std::vector<index_t> m_steps, m_samples;
  std::unique_ptr<ImportancePass> m_pass;
};

}  // namespace gradcomp::train
