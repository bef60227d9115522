#pragma once
// gradcomp-train --describe: what would travel, without training.
#include <vector>

#include "gradcomp/core/layout.hpp"
#include "gradcomp/method/spec.hpp"
#include "gradcomp/report/result_file.hpp"
#include "gradcomp/train/options.hpp"

/// Prints the tensors and buckets of `layout`, and for each method the payload bytes of one step; adds a row per method
/// (method, parameters, payload_bytes) to `file`.
void describe(const gradcomp::Layout& layout, const std::vector<gradcomp::MethodSpec>& methods,
              const gradcomp::train::Options& options, gradcomp::report::ResultFile& file);
