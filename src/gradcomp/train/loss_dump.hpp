#pragma once
// Losses of training samples as .npy files (--dump-importance): how importance is spread over samples, and how it
// moves.
#include <memory>
#include <string>
#include <vector>

#include "gradcomp/train/importance_pass.hpp"

namespace gradcomp::train {

/// The files of one method. Does nothing on other ranks than 0.
class LossDump {
 public:
  LossDump(const Job& job, const MethodSpec& method);

  /// True when this rank writes at `step`.
  bool wanted(index_t step) const;

  /// FOLDER/LABEL_stepSTEP_losses.npy: the loss of each sample that this rank began with, in ascending order of their
  /// numbers, under these parameters. Takes a forward pass over all of them.
  void write(const Exec& exec, const Span<const float>& parameters, const Span<const float>& buffers, index_t step);

 private:
  std::string m_stem;  ///< folder and label; empty: nothing is written
  std::vector<index_t> m_steps, m_samples;
  std::unique_ptr<ImportancePass> m_pass;
};

}  // namespace gradcomp::train
