#pragma once
// Sequences of frames as a task: one label per sequence.
#include <memory>
#include <string>

#include "gradcomp/data/task.hpp"

namespace gradcomp::data {

/// The data that `spec` names (frames.hpp) with one more option, length=N: frames of every sequence as the model sees
/// it (default: the longest training sequence); `length`, where it is not 0, is the same. Longer sequences lose their
/// end, shorter ones are followed by frames of zeros. Values are normalised per feature with mean and deviation of the
/// training set. batch.features holds [sequences][length][features]. Batches are dealt as those of images are
/// (shards.hpp). Throws Error.
std::unique_ptr<Task> make_frames_task(const std::string& spec, index_t length = 0);

}  // namespace gradcomp::data
