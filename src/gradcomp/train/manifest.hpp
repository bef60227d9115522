#pragma once
// checkpoint.json: which step of a checkpoint counts, and under which options it was made.
#include <string>

#include "gradcomp/core/types.hpp"
#include "gradcomp/report/json.hpp"

namespace gradcomp::train {

/// The path of the manifest in `folder`.
std::string manifest_of(const std::string& folder);

/// Replaces the manifest.
void write_manifest(const std::string& folder, index_t step, const report::Json& settings);

/// The step that `folder` holds. Throws Error, naming the file, unless it was written under `settings`.
index_t read_manifest(const std::string& folder, const report::Json& settings);

}  // namespace gradcomp::train
