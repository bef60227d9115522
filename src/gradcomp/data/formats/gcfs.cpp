#include "gradcomp/data/formats/gcfs.hpp"

#include <bit>
#include <cmath>
#include <cstring>

#include "gradcomp/core/error.hpp"
#include "gradcomp/data/files.hpp"

namespace gradcomp::data {
namespace {

constexpr std::size_t gcfs_header = 24;

/// The part of a file that is still to be read.
struct Rest {
  const std::string& path;
  const std::uint8_t* at;
  std::size_t size;

  std::uint32_t word() {
    require(size >= 4, "'{}' ends in the middle of a sequence", path);
    const std::uint32_t value = little_endian_32(at);
    at += 4;
    size -= 4;
    return value;
  }
};

void read_sequence(Rest& rest, index_t number, FrameSet& set) {
  const std::uint32_t label = rest.word(), frames = rest.word();
  require(label < set.classes, "'{}': sequence {} has label {}, allowed 0 to {}", rest.path, number, label,
          set.classes - 1);
  // Compared by division, because frames x features may overflow 64 bits if the file is forged.
  const bool sane = frames >= 1 && frames <= rest.size / 4 / static_cast<std::size_t>(set.features);
  require(sane, "'{}': sequence {} has {} frames of {} floats, none or more than the file holds; at least 1 frame",
          rest.path, number, frames, set.features);
  const std::size_t count = frames * static_cast<std::size_t>(set.features);
  for (std::size_t i = 0; i < count; ++i) {
    const float value = std::bit_cast<float>(rest.word());
    require(std::isfinite(value), "'{}': sequence {} holds a value that is not finite", rest.path, number);
    set.values.push_back(value);
  }
  set.labels.push_back(static_cast<std::int32_t>(label));
  set.first.push_back(set.first.back() + frames);
}

}  // namespace

FrameData read_gcfs(const std::string& path) {
  const auto bytes = read_file(path);
  require(bytes.size() >= gcfs_header + checksum_size, "'{}' has {} bytes, too few for a GCFS file (at least {})", path,
          bytes.size(), gcfs_header + checksum_size);
  require(std::memcmp(bytes.data(), "GCFS", 4) == 0, "'{}' is not a GCFS file: it does not begin with 'GCFS'", path);
  const std::uint32_t found = crc32(bytes.data(), bytes.size() - checksum_size);
  const std::uint32_t stored = little_endian_32(bytes.data() + bytes.size() - checksum_size);
  Rest rest{path, bytes.data() + 4, bytes.size() - 4 - checksum_size};
  const std::uint32_t version = rest.word();
  require(version == 1, "'{}' is GCFS version {}, expected 1", path, version);
  require(found == stored, "'{}' is damaged: CRC-32 is {:08x}, the file says {:08x}", path, found, stored);
  const std::uint32_t n_train = rest.word(), n_test = rest.word(), features = rest.word(), classes = rest.word();
  const bool sane = n_train >= 1 && features >= 1 && features <= 65536 && classes >= 2 && classes <= 65536;
  require(sane,
          "'{}' has impossible extents: {} training sequences (at least 1), {} features (1 to 65536), {} classes "
          "(2 to 65536)",
          path, n_train, features, classes);
  FrameData data;
  data.name = "frames";
  for (FrameSet* set : {&data.train, &data.test}) {
    set->features = features;
    set->classes = classes;
    const index_t count = set == &data.train ? n_train : n_test, before = set == &data.train ? 0 : n_train;
    for (index_t i = 0; i < count; ++i) read_sequence(rest, before + i, *set);
  }
  require(rest.size == 0, "'{}' has {} bytes behind its last sequence, expected none", path, rest.size);
  return data;
}

}  // namespace gradcomp::data
