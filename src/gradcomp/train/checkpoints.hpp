#pragma once
// --checkpoint and --resume: the whole comparison as files, so that an interrupted run goes on as if nothing had been.
// FOLDER/seedS/rankR_stepN.ckpt is what rank R has of seed S (snapshot.hpp); checkpoint.json beside it, which rank 0
// replaces last, says which step counts and under which options it was made.
#include <memory>
#include <string>
#include <vector>

#include "gradcomp/report/json.hpp"
#include "gradcomp/train/trainer.hpp"

namespace gradcomp::train {

class Checkpoints {
 public:
  /// `settings`: everything that shapes the training; a resumed run must have the same. Without folders in `options`
  /// all below does nothing.
  Checkpoints(const Options& options, report::Json settings);

  /// Restores all trainers and returns the step that they are at; 0 where there is no checkpoint of this seed yet.
  /// Throws the same AgreedError on every rank when the files are damaged or of another run. Collective.
  index_t restore(const Exec& exec, Transport& control, const std::vector<std::unique_ptr<Trainer>>& trainers) const;

  /// Writes where some step in (begin, end] is due, or `end` is the last. Collective.
  void save(const Exec& exec, Transport& control, const std::vector<std::unique_ptr<Trainer>>& trainers, index_t begin,
            index_t end) const;

 private:
  std::string m_resume, m_folder;  ///< with the seed's part; empty: not wanted
  index_t m_every, m_steps;
  report::Json m_settings;
};

/// Throws Error unless files can be written to the folder of --checkpoint, and unless that of --resume holds a
/// checkpoint.
void check_checkpoints(const Options& options, int rank);

}  // namespace gradcomp::train
