#pragma once
// --checkpoint and --resume: the whole comparison as files, so that a run continues after an interruption with the same
// bits.
// FOLDER/seedS/rankR_stepN.ckpt is what rank R has of seed S (snapshot.hpp), and names its rank; checkpoint.json beside
// it, which rank 0 replaces last, says which step counts and under which options it was made.
#include <memory>
#include <string>
#include <vector>

#include "gradcomp/report/json.hpp"
#include "gradcomp/train/trainer.hpp"

namespace gradcomp::train {

class Checkpoints {
 public:
  /// `settings`: everything that influences the training; a resumed run must have the same. If `options` name no
  /// folders, all functions below do nothing.
  Checkpoints(const Options& options, report::Json settings);

  /// Restores all trainers and returns their step; 0 if there is no checkpoint of this seed yet. Throws the same
  /// AgreedError on every rank if the files are damaged or belong to another run. Collective.
  index_t restore(const Exec& exec, Transport& control, const std::vector<std::unique_ptr<Trainer>>& trainers) const;

  /// Writes a checkpoint if one is due in the steps (begin, end], or if `end` is the last step. Collective.
  void save(const Exec& exec, Transport& control, const std::vector<std::unique_ptr<Trainer>>& trainers, index_t begin,
            index_t end) const;

 private:
  std::string m_resume, m_folder;  ///< folders of this seed; empty: not wanted
  index_t m_every, m_steps;
  std::uint64_t m_seed;
  report::Json m_settings;
};

/// Throws Error if the folder of --checkpoint cannot be written to, or if the folder of --resume holds no checkpoint.
void check_checkpoints(const Options& options, int rank);

}  // namespace gradcomp::train
