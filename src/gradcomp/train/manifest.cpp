#include "gradcomp/train/manifest.hpp"

#include "gradcomp/core/atomic_file.hpp"
#include "gradcomp/core/error.hpp"
#include "gradcomp/data/files.hpp"
#include "gradcomp/report/read_json.hpp"

namespace gradcomp::train {
namespace {

constexpr const char* checkpoint_format = "gradcomp-checkpoint-6";

}  // namespace

std::string manifest_of(const std::string& folder) { return folder + "/checkpoint.json"; }

void write_manifest(const std::string& folder, index_t step, const report::Json& settings) {
  const report::Json manifest{{"format", checkpoint_format}, {"step", step}, {"settings", settings}};
  write_atomically(manifest_of(folder), manifest.dump(1) + "\n");
}

index_t read_manifest(const std::string& folder, const report::Json& settings) {
  const std::string path = manifest_of(folder);
  const auto bytes = data::read_file(path);
  try {
    const auto manifest = report::parse_json({reinterpret_cast<const char*>(bytes.data()), bytes.size()},
                                             fmt::format("'{}' is not a checkpoint", path));
    require(manifest.at("format") == checkpoint_format, "'{}' is not a checkpoint of this version", path);
    const auto& found = manifest.at("settings");
    for (const auto& [key, value] : settings.items()) {
      require(found.contains(key) && found[key] == value, "--resume: '{}' was made with {} {}, but this job has {}",
              path, key, found.contains(key) ? found[key].dump() : "unknown", value.dump());
    }
    return report::whole_number(manifest.at("step"), fmt::format("'{}': its step", path), 0, index_t{1} << 50);
  } catch (const report::Json::exception& error) {
    throw Error(fmt::format("'{}' is not a checkpoint: {}", path, error.what()));
  }
}

}  // namespace gradcomp::train
