// Arrays of NumPy: .npy files, and .npz files, which are zip archives of them.
#include <zip.h>

#include <filesystem>

#include "fuzz/fuzz.hpp"
#include "gradcomp/data/files.hpp"
#include "gradcomp/data/formats/npz.hpp"

namespace gradcomp::fuzz {
namespace {

Bytes npy(const std::string& header, std::size_t data) {
  Bytes bytes = with_choice({0x93}, "NUMPY");
  for (const std::size_t byte : {std::size_t{1}, std::size_t{0}, header.size() % 256, header.size() / 256})
    bytes.push_back(static_cast<std::uint8_t>(byte));
  bytes.insert(bytes.end(), header.begin(), header.end());
  bytes.resize(bytes.size() + data, 0x3c);  // finite numbers of any size
  return bytes;
}

Bytes npz(const std::vector<Bytes>& arrays, bool compressed) {
  const auto path = (std::filesystem::temp_directory_path() / fmt::format("gradcomp_fuzz_{}.npz", ::getpid())).string();
  zip_t* const archive = zip_open(path.c_str(), ZIP_CREATE | ZIP_TRUNCATE, nullptr);
  for (const Bytes& array : arrays) {
    zip_source_t* const source = zip_source_buffer(archive, array.data(), array.size(), 0);
    const auto name = fmt::format("arr_{}.npy", zip_get_num_entries(archive, 0));
    const auto index = zip_file_add(archive, name.c_str(), source, 0);
    zip_set_file_compression(archive, static_cast<zip_uint64_t>(index), compressed ? ZIP_CM_DEFLATE : ZIP_CM_STORE, 0);
  }
  if (zip_close(archive) != 0) broken("cannot write " + path);
  const Bytes bytes = data::read_file(path);
  std::filesystem::remove(path);
  return bytes;
}

}  // namespace

void read(Input input) {
  if (text_of(input).starts_with("PK")) {
    const File file(input);
    for (auto& [name, array] : data::read_npz(file.path())) data::as_gradient(name, std::move(array));
  } else {
    data::as_gradient("input", data::parse_npy("input", input));
  }
}

std::vector<Bytes> seeds() {
  const Bytes matrix = npy("{'descr': '<f4', 'fortran_order': True, 'shape': (3, 2), }\n", 24);
  const Bytes doubles = npy("{'descr': '<f8', 'fortran_order': False, 'shape': (5,), }\n", 40);
  const Bytes scalar = npy("{\"descr\": '<f2', 'fortran_order': False, 'shape': ()}", 2);
  Bytes second = matrix;  // version 2.0 has a length of four bytes
  second[6] = 2;
  second.insert(second.begin() + 10, {0, 0});
  return {matrix, doubles, scalar, second, npz({matrix, scalar}, false), npz({matrix, doubles}, true)};
}

}  // namespace gradcomp::fuzz
