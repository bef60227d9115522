#pragma once
// Sequences of frames as a task: one label per sequence.
#include <memory>
#include <string>

#include "gradcomp/data/task.hpp"

namespace gradcomp::data {

/// The data that `spec` names (frames.hpp). The spec takes one more option, length=N: the frames of a sequence that the
/// model sees (default: those of the longest training sequence). A `length` other than 0 means the same. Longer
/// sequences lose their end; shorter ones are followed by frames of zeros. Values are normalised per feature with the
/// mean and the standard deviation of the training set. batch.features has the shape [sequences][length][features].
/// Samples are dealt to ranks as images are (shards.hpp). Throws Error for a spec or a length that is not allowed.
std::unique_ptr<Task> make_frames_task(const std::string& spec, index_t length = 0);

}  // namespace gradcomp::data
