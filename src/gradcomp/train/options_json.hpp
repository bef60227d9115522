#pragma once
// Options as result files, checkpoints and files of learning rates carry them.
#include "gradcomp/data/task.hpp"
#include "gradcomp/report/json.hpp"
#include "gradcomp/train/contender.hpp"

namespace gradcomp::train {

/// All options, with the data set as it was typed.
report::Json to_json(const Options& options);

/// What a resumed run must share with the one that was interrupted: everything that shapes the training and the timing.
/// `cut`: the model's buckets, in a few words.
report::Json checkpoint_settings(const Options& options, const data::Task& task,
                                 const std::vector<Contender>& contenders, int ranks, const std::string& cut);

/// What a learning rate depends on: of the ranks, only the batch over all of them.
report::Json rate_settings(const Options& options, const data::Task& task, int ranks);

}  // namespace gradcomp::train
