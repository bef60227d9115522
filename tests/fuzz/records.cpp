// JSON files that programs read again: learning rates, the manifest of a checkpoint, results whose slices are repeated.
#include <unistd.h>

#include <cmath>
#include <filesystem>

#include "fuzz/fuzz.hpp"
#include "gradcomp/data/files.hpp"
#include "gradcomp/train/manifest.hpp"
#include "gradcomp/train/replay.hpp"
#include "gradcomp/tune/rates.hpp"

namespace gradcomp::fuzz {
namespace {

namespace fs = std::filesystem;

enum Kind : std::uint8_t { rates, rates_to_tune, manifest, slices, kinds };

const report::Json settings{{"model", "resnet20"}, {"clip", 2}};
constexpr tune::TrialShape shape{10, 2, 2, 3};

/// What is read is written and read again as the same.
void read_rates(const std::string& text, bool to_tune) {
  const auto parse = [&](const std::string& file) {
    return tune::Rates::parse(file, "input", train::Metric(), settings, shape, to_tune).text();
  };
  const std::string once = parse(text);
  if (parse(once) != once) broken("other rates are read from what was written");
}

/// A folder for the manifest of a checkpoint.
struct Folder {
  Folder() { fs::create_directory(path); }
  ~Folder() { fs::remove_all(path); }

  std::string path = (fs::temp_directory_path() / fmt::format("gradcomp_fuzz_{}", ::getpid())).string();
};

void read_manifest(Input input) {
  const Folder folder;
  const File file(input);
  fs::create_symlink(file.path(), train::manifest_of(folder.path));
  train::read_manifest(folder.path, settings);
}

Bytes manifest_file() {
  const Folder folder;
  train::write_manifest(folder.path, 20, settings);
  return data::read_file(train::manifest_of(folder.path));
}

}  // namespace

void read(Input input) {
  const auto kind = static_cast<Kind>(take(input) % kinds);
  if (kind == manifest) return read_manifest(input);
  if (kind != slices) return read_rates(text_of(input), kind == rates_to_tune);
  const File file(input);
  train::recorded_slices(file.path(), "a", 1, 1, 2);
}

std::vector<Bytes> seeds() {
  tune::Rates all(train::Metric(), settings, shape);
  all.add("a", {0.1, 0.5, 1.0, 2});
  all.add("a", {0.4, std::nan(""), std::nan(""), 1});
  all.add_time({"fp32", 0}, 5.5);
  all.add_time({"fp32:reducer=ring", 1024}, 4.5);
  const Bytes checkpoint = manifest_file();
  const report::Json result{
      {"benchmarks", {{{"label", "b"}, {"seed", 1}}, {{"label", "a"}, {"seed", 1}, {"slices", {{1, 2}, {3, 4}}}}}}};
  return {with_choice({rates}, all.text()), with_choice({rates_to_tune}, all.text()),
          with_choice({manifest}, text_of(checkpoint)), with_choice({slices}, result.dump())};
}

}  // namespace gradcomp::fuzz
