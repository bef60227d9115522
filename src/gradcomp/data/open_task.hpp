#pragma once
// The task of a data set that is named.
#include <memory>
#include <string>

#include "gradcomp/data/task.hpp"

namespace gradcomp::data {

/// Opens what `spec` names; a data set of data/datasets/. `length`: steps of a sequence in one
/// batch, of data sets that are cut into such; 0: their default. Throws Error (one line: what, where, what is allowed).
std::unique_ptr<Task> open_task(const std::string& spec, index_t length = 0);

}  // namespace gradcomp::data
