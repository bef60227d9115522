#include "gradcomp/data/formats/npz.hpp"

#include <zip.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <set>

#include "gradcomp/core/error.hpp"

namespace gradcomp::data {
namespace {

constexpr zip_int64_t most_arrays = 65535;  ///< as the format had before it was extended

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

/// Throws Error if the members need more bytes than the file has. They then share bytes, and a few kilobytes could be
/// inflated to any number of gigabytes; otherwise a file of N bytes becomes at most about 1,000 N.
void refuse_overlaps(const std::string& path, zip_t* archive, zip_int64_t count) {
  constexpr std::uintmax_t headers = 30 + 46;  // of each member, in front of it and in the directory, without its name
  std::error_code error;
  std::uintmax_t left = std::filesystem::file_size(path, error);
  require(!error, "cannot read '{}': {}", path, error.message());
  for (zip_int64_t i = 0; i < count; ++i) {
    zip_stat_t stat;
    require(zip_stat_index(archive, static_cast<zip_uint64_t>(i), 0, &stat) == 0, "cannot read '{}': {}", path,
            zip_strerror(archive));
    require(left >= headers && stat.comp_size <= left - headers,
            "'{}' is no sound .npz file: its {} members need more bytes than it has, so they overlap", path, count);
    left -= headers + stat.comp_size;
  }
}

NpyArray read_member(zip_t* archive, zip_uint64_t index, const std::string& name) {
  const File file(zip_fopen_index(archive, index, 0));
  require(file != nullptr, "cannot read '{}': {}", name, zip_strerror(archive));
  return read_npy(name, [&](std::uint8_t* to, std::size_t count) {
    std::size_t done = 0;
    for (zip_int64_t got = 1; got > 0 && done < count; done += static_cast<std::size_t>(got)) {
      got = zip_fread(file.get(), to + done, count - done);
      require(got >= 0, "cannot read '{}': {}", name, zip_file_strerror(file.get()));
    }
    return done;
  });
}

}  // namespace

std::vector<NamedArray> read_npz(const std::string& path) {
  const Archive archive = open(path);
  const zip_int64_t count = zip_get_num_entries(archive.get(), 0);
  require(count > 0, "'{}' holds no array", path);
  require(count <= most_arrays, "'{}' holds {} arrays; allowed: up to {}", path, count, most_arrays);
  refuse_overlaps(path, archive.get(), count);
  std::set<std::string> names;
  std::vector<NamedArray> arrays;
  for (zip_int64_t i = 0; i < count; ++i) {
    const auto index = static_cast<zip_uint64_t>(i);
    const char* stored = zip_get_name(archive.get(), index, ZIP_FL_ENC_GUESS);
    require(stored != nullptr, "cannot read '{}': {}", path, zip_strerror(archive.get()));
    const std::string name = path + ":" + stored;
    arrays.push_back({std::filesystem::path(stored).replace_extension().string(), {}});
    require(names.insert(arrays.back().name).second, "'{}' holds two arrays '{}'", path, arrays.back().name);
    arrays.back().array = read_member(archive.get(), index, name);
  }
  return arrays;
}

}  // namespace gradcomp::data
