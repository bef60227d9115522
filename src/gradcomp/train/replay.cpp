#include "gradcomp/train/replay.hpp"

#include "gradcomp/core/error.hpp"
#include "gradcomp/data/files.hpp"
#include "gradcomp/report/read_json.hpp"

namespace gradcomp::train {

std::vector<index_t> recorded_slices(const std::string& path, const std::string& label, std::uint64_t seed, int rank,
                                     int ranks) {
  const auto bytes = data::read_file(path);
  const report::Json json =
      report::parse_json({reinterpret_cast<const char*>(bytes.data()), bytes.size()},
                         fmt::format("--replay-slices: '{}' is no result file of gradcomp-train", path));
  require(json.is_object() && json.contains("benchmarks") && json["benchmarks"].is_array(),
          "--replay-slices: '{}' is no result file of gradcomp-train", path);
  for (const report::Json& row : json["benchmarks"]) {
    if (!row.is_object() || row.value("label", report::Json()) != report::Json(label) ||
        row.value("seed", report::Json()) != report::Json(seed))
      continue;
    if (!row.contains("slices")) break;
    const report::Json& slices = row["slices"];
    require(slices.is_array() && std::ssize(slices) == ranks,
            "--replay-slices: '{}' was made with {} ranks, but this job has {}", path, slices.size(), ranks);
    std::vector<index_t> own;
    for (const report::Json& count : slices[static_cast<std::size_t>(rank)]) {
      own.push_back(report::whole_number(count, fmt::format("--replay-slices: '{}': slices", path), 0, 1 << 30));
    }
    return own;
  }
  throw Error(fmt::format("--replay-slices: '{}' has no slices of '{}' with seed {}", path, label, seed));
}

}  // namespace gradcomp::train
