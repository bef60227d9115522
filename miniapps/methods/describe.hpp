#pragma once
// Shows what would travel for a model, without training.
#include <vector>

#include "gradcomp/core/layout.hpp"
#include "gradcomp/method/spec.hpp"
#include "gradcomp/report/result_file.hpp"
#include "gradcomp/train/options.hpp"

/// Adds a row per method to `file` (method, model, parameters, dense_bytes, payload_bytes) and writes it. Then prints
/// the tensors and buckets of `layout`, and the payload bytes of one step for each method.
void describe(const gradcomp::Layout& layout, const std::vector<gradcomp::MethodSpec>& methods,
              const gradcomp::train::Options& options, gradcomp::report::ResultFile& file);
