#pragma once
// Every data set of data/datasets/, found by CMake (cmake/Registry.cmake). To add one, add its file with a reader or
// generator of one of the three forms: images, text or frames (docs/extend.md).
#include <functional>
#include <string>
#include <vector>

#include "gradcomp/data/dataset.hpp"
#include "gradcomp/data/frames.hpp"
#include "gradcomp/data/spec.hpp"
#include "gradcomp/data/text.hpp"

namespace gradcomp {
namespace data {

/// What datasets/<name>.cpp defines: `data::DatasetEntry gradcomp::datasets::<name>()`. One of the three readers is
/// set.
struct DatasetEntry {
  /// What stands between the kind and the options of a spec. `unchecked`: the reader checks it.
  enum class Place : std::uint8_t { nothing, file, folder, unchecked };

  std::string name;   ///< the kind: what stands in its specs before the first colon
  std::string usage;  ///< its specs, as help and error messages show them: "cifar10:DIR"
  Place place = Place::file;
  /// One of these three is set. It reads or generates the data, and throws Error (one line: what, where, what is
  /// allowed).
  std::function<ImageData(const Spec&)> images = {};
  std::function<TextData(const Spec&)> text = {};
  std::function<FrameData(const Spec&)> frames = {};
  index_t length = 0;   ///< texts only: default number of tokens of a sequence in one batch
  bool options = true;  ///< specs may end in key=value
};

/// Whether an entry has a certain form.
using DatasetForm = bool (*)(const DatasetEntry&);
inline bool is_images(const DatasetEntry& entry) { return static_cast<bool>(entry.images); }
inline bool is_text(const DatasetEntry& entry) { return static_cast<bool>(entry.text); }
inline bool is_frames(const DatasetEntry& entry) { return static_cast<bool>(entry.frames); }
inline bool is_any(const DatasetEntry&) { return true; }

/// The specs of all data sets of a form: "cifar10:DIR, cifar100:DIR, ...".
std::string dataset_specs(DatasetForm form = is_any);

/// The entry of a form that the kind of `spec` names. If there is none, throws Error that names the nearest kind and
/// lists the specs. `what`: what the error calls the spec, such as "data" or "text".
const DatasetEntry& find_dataset(const std::string& spec, const char* what, DatasetForm form = is_any);

/// Does the same, and also throws Error if path or options of the spec are not what the entry takes.
const DatasetEntry& check_dataset(const std::string& spec, const char* what, DatasetForm form);

}  // namespace data

/// All entries, sorted by name. Defined in the generated source of the data layer.
const std::vector<data::DatasetEntry>& all_datasets();

}  // namespace gradcomp
