#pragma once
// From the spec of any data set to its task.
#include <memory>
#include <string>

#include "gradcomp/data/task.hpp"

namespace gradcomp::data {

/// Opens the data set that `spec` names (data/datasets/). `length`: tokens or frames of a sequence in one batch, only
/// for texts and frames; 0: the default of the data set. Throws Error (one line: what, where, what is allowed).
std::unique_ptr<Task> open_task(const std::string& spec, index_t length = 0);

}  // namespace gradcomp::data
