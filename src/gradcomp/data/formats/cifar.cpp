#include "gradcomp/data/formats/cifar.hpp"

#include "gradcomp/core/error.hpp"
#include "gradcomp/data/files.hpp"

namespace gradcomp::data {
namespace {

namespace fs = std::filesystem;

constexpr index_t side = 32, channels = 3;
constexpr index_t plane = side * side;

/// Layout of a record.
struct Record {
  index_t label_bytes, label;  ///< number of label bytes, and which of them is read

  index_t size() const { return label_bytes + channels * plane; }
};

/// Appends the records of one file to `set`.
void append(ImageSet& set, const std::string& path, index_t records, const Record& form) {
  const auto bytes = read_file(path);
  const auto expected = static_cast<std::size_t>(records * form.size());
  require(bytes.size() == expected, "'{}' has {} bytes, expected {} ({} records of {})", path, bytes.size(), expected,
          records, form.size());
  const std::size_t first = set.pixels.size();
  set.pixels.resize(first + static_cast<std::size_t>(records * channels * plane));
  std::uint8_t* out = set.pixels.data() + first;
  for (index_t r = 0; r < records; ++r) {
    const std::uint8_t* record = bytes.data() + r * form.size();
    const std::uint8_t label = record[form.label];
    require(label < set.classes, "'{}': record {} has label {}, allowed 0 to {}", path, r, label, set.classes - 1);
    set.labels.push_back(label);
    record += form.label_bytes;
    for (index_t p = 0; p < plane; ++p) {
      for (index_t c = 0; c < channels; ++c) *out++ = record[c * plane + p];
    }
  }
}

/// `folder`, or its sub-folder `archive` if `first` is not in `folder` itself.
fs::path base_folder(const std::string& folder, const char* archive, const char* first) {
  const fs::path base = folder;
  return !exists(status_of(base / first)) && is_folder(base / archive) ? base / archive : base;
}

ImageData empty_data(const std::string& name, index_t classes) {
  ImageData data;
  data.name = name;
  data.mirror = true;
  for (ImageSet* set : {&data.train, &data.test}) {
    set->height = set->width = side;
    set->channels = channels;
    set->classes = classes;
  }
  return data;
}

}  // namespace

ImageData read_cifar10(const std::string& folder, index_t records) {
  require(is_folder(folder),
          "cifar10: '{}' is not a folder; expected one with data_batch_1.bin .. data_batch_5.bin and "
          "test_batch.bin",
          folder);
  const fs::path base = base_folder(folder, "cifar-10-batches-bin", "data_batch_1.bin");
  ImageData data = empty_data("cifar10", 10);
  const Record form{1, 0};
  for (int b = 1; b <= 5; ++b) append(data.train, (base / fmt::format("data_batch_{}.bin", b)).string(), records, form);
  append(data.test, (base / "test_batch.bin").string(), records, form);
  return data;
}

ImageData read_cifar100(const std::string& folder, bool coarse, index_t records) {
  require(is_folder(folder), "cifar100: '{}' is not a folder; expected one with train.bin and test.bin", folder);
  const fs::path base = base_folder(folder, "cifar-100-binary", "train.bin");
  ImageData data = empty_data(coarse ? "cifar100:labels=coarse" : "cifar100:labels=fine", coarse ? 20 : 100);
  const Record form{2, coarse ? 0 : 1};
  append(data.train, (base / "train.bin").string(), 5 * records, form);
  append(data.test, (base / "test.bin").string(), records, form);
  return data;
}

}  // namespace gradcomp::data
