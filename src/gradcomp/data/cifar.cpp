#include "gradcomp/data/cifar.hpp"

#include <filesystem>

#include "gradcomp/core/error.hpp"
#include "gradcomp/data/files.hpp"

namespace gradcomp::data {
namespace {

constexpr index_t side = 32, channels = 3, classes = 10;
constexpr index_t plane = side * side;
constexpr index_t record_size = 1 + channels * plane;

/// Appends the records of one file to `set`.
void append(ImageSet& set, const std::string& path, index_t records) {
  const auto bytes = read_file(path);
  const auto expected = static_cast<std::size_t>(records * record_size);
  require(bytes.size() == expected, "'{}' has {} bytes, expected {} ({} records of {})", path, bytes.size(), expected,
          records, record_size);
  const std::size_t first = set.pixels.size();
  set.pixels.resize(first + static_cast<std::size_t>(records * channels * plane));
  std::uint8_t* out = set.pixels.data() + first;
  for (index_t r = 0; r < records; ++r) {
    const std::uint8_t* record = bytes.data() + r * record_size;
    require(record[0] < classes, "'{}': record {} has label {}, allowed 0 to {}", path, r, record[0], classes - 1);
    set.labels.push_back(record[0]);
    for (index_t p = 0; p < plane; ++p) {
      for (index_t c = 0; c < channels; ++c) *out++ = record[1 + c * plane + p];
    }
  }
}

}  // namespace

ImageData read_cifar10(const std::string& folder, index_t records) {
  namespace fs = std::filesystem;
  require(fs::is_directory(folder),
          "cifar10: '{}' is no folder with data_batch_1.bin .. data_batch_5.bin and "
          "test_batch.bin",
          folder);
  fs::path base = folder;
  if (!fs::exists(base / "data_batch_1.bin") && fs::is_directory(base / "cifar-10-batches-bin")) {
    base /= "cifar-10-batches-bin";
  }
  ImageData data;
  data.name = "cifar10";
  data.mirror = true;
  for (ImageSet* set : {&data.train, &data.test}) {
    set->height = set->width = side;
    set->channels = channels;
    set->classes = classes;
  }
  for (int b = 1; b <= 5; ++b) append(data.train, (base / fmt::format("data_batch_{}.bin", b)).string(), records);
  append(data.test, (base / "test_batch.bin").string(), records);
  return data;
}

}  // namespace gradcomp::data
