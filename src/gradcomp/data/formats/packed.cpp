#include "gradcomp/data/formats/packed.hpp"

#include <array>
#include <fstream>
#include <set>
#include <sstream>
#include <utility>

#include "gradcomp/core/error.hpp"
#include "gradcomp/core/number.hpp"
#include "gradcomp/data/files.hpp"
#include "gradcomp/data/formats/gcds.hpp"

namespace gradcomp::data {
namespace {

namespace fs = std::filesystem;

struct Entry {
  std::string crc, file;
  index_t n_train = 0, n_test = 0;
};

std::vector<Entry> read_index(const std::string& path) {
  std::istringstream lines(read_text(path));
  std::string line;
  require(std::getline(lines, line) && line == "GCDS-INDEX 1", "'{}' does not begin with 'GCDS-INDEX 1'", path);
  std::vector<Entry> entries;
  std::set<std::string> files;
  while (std::getline(lines, line)) {
    std::istringstream fields(line);
    Entry e;
    std::string n_train, n_test;
    fields >> e.crc >> n_train >> n_test >> std::ws;
    const auto train = to_number<index_t>(n_train), test = to_number<index_t>(n_test);
    require(train && test && std::getline(fields, e.file) && fs::path(e.file).filename() == e.file,
            "'{}': line {} is not 'CRC N_TRAIN N_TEST FILE'", path, entries.size() + 2);
    require(files.insert(e.file).second, "'{}': line {} lists '{}' a second time", path, entries.size() + 2, e.file);
    e.n_train = *train;
    e.n_test = *test;
    entries.push_back(std::move(e));
  }
  require(!entries.empty(), "'{}' lists no file", path);
  return entries;
}

/// The checksum at the end of a GCDS file.
std::string stored_crc(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::array<char, 4> bytes{};
  file.seekg(-4, std::ios::end);
  file.read(bytes.data(), 4);
  return fmt::format("{:08x}", little_endian_32(reinterpret_cast<const std::uint8_t*>(bytes.data())));
}

bool same_shape(const ImageSet& a, const ImageSet& b) {
  return a.height == b.height && a.width == b.width && a.channels == b.channels && a.classes == b.classes;
}

void append(ImageSet& all, const ImageSet& part) {
  all.pixels.insert(all.pixels.end(), part.pixels.begin(), part.pixels.end());
  all.labels.insert(all.labels.end(), part.labels.begin(), part.labels.end());
}

}  // namespace

ImageData read_packed(const std::string& path) {
  if (!is_folder(path)) return read_gcds(path);
  const std::string index = (fs::path(path) / "index.txt").string();
  const auto entries = read_index(index);
  std::uintmax_t bytes = 0;  // an upper bound of the size of all pixels
  for (const Entry& e : entries) {
    std::error_code missing;  // ignored here: read_gcds reports a missing file
    const auto size = fs::file_size(fs::path(path) / e.file, missing);
    if (!missing) bytes += size;
  }
  ImageData all;
  for (const Entry& e : entries) {
    const std::string file = (fs::path(path) / e.file).string();
    ImageData part = read_gcds(file);
    const bool listed = stored_crc(file) == e.crc && part.train.count() == e.n_train && part.test.count() == e.n_test;
    require(listed, "'{}' is not the file that '{}' lists: it has CRC-32 {} and {} + {} images", file, index,
            stored_crc(file), part.train.count(), part.test.count());
    if (all.train.count() == 0) {
      all = std::move(part);
      if (entries.size() > 1) all.train.pixels.reserve(bytes);
      continue;
    }
    require(same_shape(part.train, all.train),
            "'{}' has images of another shape or another number of classes than '{}'", file, entries.front().file);
    append(all.train, part.train);
    append(all.test, part.test);
  }
  return all;
}

}  // namespace gradcomp::data
