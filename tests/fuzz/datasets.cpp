// Data sets in files: GCDS and its index, GCFS, CIFAR-10 and CIFAR-100.
#include <unistd.h>

#include <bit>
#include <filesystem>

#include "fuzz/fuzz.hpp"
#include "gradcomp/data/dataset.hpp"
#include "gradcomp/data/formats/cifar.hpp"
#include "gradcomp/data/frames.hpp"

namespace gradcomp::fuzz {
namespace {

namespace fs = std::filesystem;

enum Format : std::uint8_t { gcds, gcfs, index_of_gcds, cifar10, cifar100_fine, cifar100_coarse, formats };

/// A folder of links to files.
class Folder {
 public:
  Folder() { fs::create_directories(m_path); }
  ~Folder() { fs::remove_all(m_path); }
  void link(const std::string& name, const File& file) const { fs::create_symlink(file.path(), m_path / name); }
  std::string path() const { return m_path.string(); }

 private:
  fs::path m_path = fs::temp_directory_path() / fmt::format("gradcomp_fuzz_{}", ::getpid());
};

void put(Bytes& bytes, std::uint32_t word) {
  for (int byte = 0; byte < 4; ++byte) bytes.push_back(static_cast<std::uint8_t>(word >> (8 * byte)));
}

/// A GCDS file without its checksum: 2 x 2 grey images with labels of `version` bytes.
Bytes gcds_file(std::uint32_t version) {
  Bytes bytes = with_choice({}, "GCDS");
  for (const std::uint32_t word : {version, 4U, 2U, 2U, 2U, 1U, 3U}) put(bytes, word);
  for (std::uint8_t image = 0; image < 6; ++image) {
    bytes.push_back(image % 3);
    bytes.resize(bytes.size() + version - 1 + 4, image);
    if (version == 2) bytes[bytes.size() - 5] = 0;
  }
  return bytes;
}

Bytes gcfs_file() {
  Bytes bytes = with_choice({}, "GCFS");
  for (const std::uint32_t word : {1U, 3U, 1U, 2U, 2U}) put(bytes, word);
  for (std::uint32_t sequence = 0; sequence < 4; ++sequence) {
    put(bytes, sequence % 2);
    put(bytes, sequence + 1);
    for (std::uint32_t i = 0; i < 2 * (sequence + 1); ++i) put(bytes, std::bit_cast<std::uint32_t>(0.5F * i));
  }
  return bytes;
}

void read_cifar(Format format, Input input) {
  const Folder folder;
  const File whole(input), part(input.first(input.size() / 5));
  if (format == cifar10) {
    for (int b = 1; b <= 5; ++b) folder.link(fmt::format("data_batch_{}.bin", b), whole);
    folder.link("test_batch.bin", whole);
    data::read_cifar10(folder.path(), 1);
  } else {
    folder.link("train.bin", whole);
    folder.link("test.bin", part);
    data::read_cifar100(folder.path(), format == cifar100_coarse, 1);
  }
}

}  // namespace

void read(Input input) {
  const auto format = static_cast<Format>(take(input) % formats);
  if (format == gcds || format == gcfs) {
    const File file(with_checksum(input));
    if (format == gcds)
      data::open_dataset("gcds:" + file.path());
    else
      data::open_frames("frames:" + file.path());
  } else if (format == index_of_gcds) {
    const Folder folder;
    const File index(input), first(with_checksum(gcds_file(1))), second(with_checksum(gcds_file(2)));
    folder.link("index.txt", index);
    folder.link("a", first);
    folder.link("b", second);
    data::open_dataset("packed:" + folder.path());
  } else {
    read_cifar(format, input);
  }
}

std::vector<Bytes> seeds() {
  const auto with = [](Format format, const Bytes& bytes) {
    Bytes all{format};
    all.insert(all.end(), bytes.begin(), bytes.end());
    return all;
  };
  const auto crc = [](const Bytes& file) {
    const Bytes with = with_checksum(file);
    std::uint32_t word = 0;
    for (std::size_t byte = 0; byte < 4; ++byte) word |= std::uint32_t{with[with.size() - 4 + byte]} << (8 * byte);
    return fmt::format("{:08x}", word);
  };
  const std::string index = fmt::format("GCDS-INDEX 1\n{} 4 2 a\n{} 4 2 b\n", crc(gcds_file(1)), crc(gcds_file(2)));
  return {with(gcds, gcds_file(1)),
          with(gcds, gcds_file(2)),
          with(gcfs, gcfs_file()),
          with_choice({index_of_gcds}, index),
          with(cifar10, Bytes(3073, 7)),
          with(cifar100_fine, Bytes(5 * 3074, 9)),
          with(cifar100_coarse, Bytes(5 * 3074, 9))};
}

}  // namespace gradcomp::fuzz
