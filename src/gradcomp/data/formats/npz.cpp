#include "gradcomp/data/formats/npz.hpp"

#include <zip.h>

#include <cstdint>
#include <filesystem>
#include <memory>

#include "gradcomp/core/error.hpp"

namespace gradcomp::data {
namespace {

struct Discard {
  void operator()(zip_t* archive) const { zip_discard(archive); }
};
struct Close {
  void operator()(zip_file_t* file) const { zip_fclose(file); }
};
using Archive = std::unique_ptr<zip_t, Discard>;
using File = std::unique_ptr<zip_file_t, Close>;

Archive open(const std::string& path) {
  int code = 0;
  Archive archive(zip_open(path.c_str(), ZIP_RDONLY, &code));
  zip_error_t error;
  zip_error_init_with_code(&error, code);
  const std::string reason = zip_error_strerror(&error);
  zip_error_fini(&error);
  require(archive != nullptr, "cannot read '{}' as a .npz file: {}", path, reason);
  return archive;
}

/// The content of one file of the archive; `name` names it in errors. All that can be read is returned, because the
/// length that a damaged archive states may be wrong.
std::vector<std::uint8_t> content(zip_t* archive, zip_uint64_t index, const std::string& name) {
  constexpr std::size_t step = 1 << 20;
  const File file(zip_fopen_index(archive, index, 0));
  require(file != nullptr, "cannot read '{}': {}", name, zip_strerror(archive));
  std::vector<std::uint8_t> bytes;
  zip_int64_t read = 0;
  do {
    const std::size_t before = bytes.size();
    bytes.resize(before + step);
    read = zip_fread(file.get(), bytes.data() + before, step);
    require(read >= 0, "cannot read '{}': {}", name, zip_file_strerror(file.get()));
    bytes.resize(before + static_cast<std::size_t>(read));
  } while (read > 0);
  return bytes;
}

}  // namespace

std::vector<NamedArray> read_npz(const std::string& path) {
  const Archive archive = open(path);
  const zip_int64_t count = zip_get_num_entries(archive.get(), 0);
  require(count > 0, "'{}' holds no array", path);
  std::vector<NamedArray> arrays;
  for (zip_int64_t i = 0; i < count; ++i) {
    const auto index = static_cast<zip_uint64_t>(i);
    const char* stored = zip_get_name(archive.get(), index, ZIP_FL_ENC_GUESS);
    require(stored != nullptr, "cannot read '{}': {}", path, zip_strerror(archive.get()));
    const std::string name = path + ":" + stored;
    arrays.push_back({std::filesystem::path(stored).replace_extension().string(),
                      parse_npy(name, content(archive.get(), index, name))});
  }
  return arrays;
}

}  // namespace gradcomp::data
