#pragma once
// Options as JSON, for result files, checkpoints and files of learning rates.
#include "gradcomp/data/task.hpp"
#include "gradcomp/report/json.hpp"
#include "gradcomp/train/contender.hpp"

namespace gradcomp::train {

/// All options, with the data set as it was typed.
report::Json to_json(const Options& options);

/// What a resumed run must have in common with the interrupted one: everything that influences training and timing.
/// `cut`: a short description of the model's buckets.
report::Json checkpoint_settings(const Options& options, const data::Task& task,
                                 const std::vector<Contender>& contenders, int ranks, const std::string& cut);

/// What a learning rate depends on: of the ranks, only the batch over all of them.
report::Json rate_settings(const Options& options, const data::Task& task, int ranks);

}  // namespace gradcomp::train
