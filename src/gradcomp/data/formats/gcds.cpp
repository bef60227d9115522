#include "gradcomp/data/formats/gcds.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "gradcomp/core/error.hpp"
#include "gradcomp/data/files.hpp"

namespace gradcomp::data {
namespace {

constexpr std::size_t gcds_header = 32;

struct Header {
  std::uint32_t version, n_train, n_test, height, width, channels, classes;

  std::uint32_t label_size() const { return version; }  ///< bytes of a label; the version happens to be the same
};

Header read_header(const std::string& path, const std::vector<std::uint8_t>& bytes) {
  require(bytes.size() >= gcds_header + checksum_size, "'{}' has {} bytes, too few for a GCDS file (at least {})", path,
          bytes.size(), gcds_header + checksum_size);
  require(std::memcmp(bytes.data(), "GCDS", 4) == 0, "'{}' is not a GCDS file: it does not begin with 'GCDS'", path);
  std::array<std::uint32_t, 7> field{};
  for (std::size_t f = 0; f < field.size(); ++f) field[f] = little_endian_32(bytes.data() + 4 + 4 * f);
  require(field[0] == 1 || field[0] == 2, "'{}' is GCDS version {}, expected 1 or 2", path, field[0]);
  const Header h{field[0], field[1], field[2], field[3], field[4], field[5], field[6]};
  // With these bounds the size of an image cannot overflow 64 bits.
  constexpr std::uint32_t max_extent = 65536;
  const bool sane = h.n_train >= 1 && h.height >= 1 && h.height <= max_extent && h.width >= 1 &&
                    h.width <= max_extent && h.channels >= 1 && h.channels <= 16 && h.classes >= 2 &&
                    h.classes <= (h.version == 1 ? 256 : max_extent);
  require(sane,
          "'{}' has impossible extents: {} training images (at least 1), {} x {} x {} (up to {} x {} x 16), {} classes "
          "(2 to {})",
          path, h.n_train, h.height, h.width, h.channels, max_extent, max_extent, h.classes,
          h.version == 1 ? 256 : max_extent);
  return h;
}

/// Copies the `count` records that begin at `bytes` into `set`. `first`: number of the first one in the file, for
/// errors.
void copy_records(const std::string& path, const std::uint8_t* bytes, index_t first, index_t count, index_t label_size,
                  ImageSet& set) {
  const index_t size = set.image_size();
  set.labels.resize(static_cast<std::size_t>(count));
  set.pixels.resize(static_cast<std::size_t>(count * size));
  for (index_t i = 0; i < count; ++i) {
    const std::uint8_t* record = bytes + i * (label_size + size);
    const int label = record[0] + (label_size == 2 ? 256 * record[1] : 0);
    require(label < set.classes, "'{}': image {} has label {}, allowed 0 to {}", path, first + i, label,
            set.classes - 1);
    set.labels[static_cast<std::size_t>(i)] = static_cast<std::uint16_t>(label);
    std::copy_n(record + label_size, size, set.pixels.data() + i * size);
  }
}

}  // namespace

ImageData read_gcds(const std::string& path) {
  const auto bytes = read_file(path);
  const Header h = read_header(path, bytes);
  const std::uint64_t record = h.label_size() + std::uint64_t{h.height} * h.width * h.channels;
  const std::uint64_t images = std::uint64_t{h.n_train} + h.n_test;
  // Compared by division, because images x record may overflow 64 bits if the header is forged.
  const std::uint64_t body = bytes.size() - gcds_header - checksum_size;
  require(body / record == images && body % record == 0, "'{}' has {} bytes, expected {:.0f} ({} images of {} bytes)",
          path, bytes.size(), static_cast<double>(images) * static_cast<double>(record) + 36.0, images, record);
  const std::uint32_t found = crc32(bytes.data(), bytes.size() - checksum_size);
  const std::uint32_t stored = little_endian_32(bytes.data() + bytes.size() - checksum_size);
  require(found == stored, "'{}' is damaged: CRC-32 is {:08x}, the file says {:08x}", path, found, stored);

  ImageData data;
  data.name = "gcds";
  for (ImageSet* set : {&data.train, &data.test}) {
    set->height = h.height;
    set->width = h.width;
    set->channels = h.channels;
    set->classes = h.classes;
  }
  const std::uint8_t* first = bytes.data() + gcds_header;
  copy_records(path, first, 0, h.n_train, h.label_size(), data.train);
  copy_records(path, first + h.n_train * record, h.n_train, h.n_test, h.label_size(), data.test);
  return data;
}

}  // namespace gradcomp::data
