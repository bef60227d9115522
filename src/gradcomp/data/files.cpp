#include "gradcomp/data/files.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>

#include "gradcomp/core/error.hpp"
#include "gradcomp/core/utf8.hpp"

namespace gradcomp::data {
namespace fs = std::filesystem;
namespace {

/// Tables of the slicing-by-8 method (Kounavis and Berry 2005), which takes eight bytes per step instead of one.
constexpr auto crc_tables = [] {
  std::array<std::array<std::uint32_t, 256>, 8> table{};
  for (std::uint32_t i = 0; i < 256; ++i) {
    std::uint32_t value = i;
    for (int bit = 0; bit < 8; ++bit) value = (value >> 1) ^ ((value & 1U) != 0 ? 0xEDB88320U : 0U);
    table[0][i] = value;
  }
  for (std::size_t t = 1; t < 8; ++t) {
    for (std::size_t i = 0; i < 256; ++i) {
      table[t][i] = (table[t - 1][i] >> 8) ^ table[0][table[t - 1][i] & 0xFFU];
    }
  }
  return table;
}();

}  // namespace

fs::file_status status_of(const fs::path& path) {
  std::error_code error;
  const auto status = fs::status(path, error);
  require(fs::status_known(status), "cannot read '{}': {}", path.string(), error.message());
  return status;
}

bool is_folder(const fs::path& path) { return fs::is_directory(status_of(path)); }

std::vector<fs::path> files_in(const std::string& folder, const std::string& extension) {
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    if (entry->path().extension() == extension) files.push_back(entry->path());
  }
  require(!error, "cannot read the folder '{}': {}", folder, error.message());
  std::sort(files.begin(), files.end());
  return files;
}

std::vector<std::uint8_t> read_file(const std::string& path) {
  const auto status = status_of(path);
  require(fs::exists(status), "cannot read '{}': there is no such file", path);
  require(fs::is_regular_file(status), "cannot read '{}': it is not a regular file", path);
  std::error_code error;
  const auto size = fs::file_size(path, error);
  require(!error, "cannot read '{}': {}", path, error.message());
  std::ifstream file(path, std::ios::binary);
  require(file.is_open(), "cannot read '{}': {}", path, std::strerror(errno));
  std::vector<std::uint8_t> bytes(size);
  file.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(size));
  require(static_cast<std::uintmax_t>(file.gcount()) == size, "cannot read '{}': got {} of {} bytes", path,
          file.gcount(), size);
  return bytes;
}

std::string read_text(const std::string& path) {
  constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
  const auto bytes = read_file(path);
  std::string text(bytes.begin(), bytes.end());
  require_text(fmt::format("'{}'", path), text);
  if (text.starts_with(byte_order_mark)) text.erase(0, byte_order_mark.size());
  require(!text.empty(), "'{}' is empty", path);
  return text;
}

void require_writable_folder(const std::string& path) {
  std::error_code error;
  fs::create_directories(path, error);
  require(!error, "cannot make the folder '{}': {}", path, error.message());
  require(fs::is_directory(path, error), "cannot write to '{}': it is not a folder", path);
  require(::access(path.c_str(), W_OK | X_OK) == 0, "cannot write to the folder '{}': {}", path, std::strerror(errno));
}

std::string file_name_part(const std::string& text) {
  constexpr std::string_view allowed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._=+-";
  std::string part = text.empty() ? std::string("_") : text;
  for (char& c : part) {
    if (allowed.find(c) == std::string_view::npos) c = '_';
  }
  if (part.front() == '.') part.front() = '_';  // no hidden files, no ".."
  return part;
}

std::uint32_t crc32(const std::uint8_t* bytes, std::size_t count, std::uint32_t crc) {
  const auto& t = crc_tables;
  crc = ~crc;
  for (; count >= 8; bytes += 8, count -= 8) {
    const std::uint32_t low = little_endian_32(bytes) ^ crc;
    const std::uint32_t high = little_endian_32(bytes + 4);
    crc = t[7][low & 0xFFU] ^ t[6][low >> 8 & 0xFFU] ^ t[5][low >> 16 & 0xFFU] ^ t[4][low >> 24] ^ t[3][high & 0xFFU] ^
          t[2][high >> 8 & 0xFFU] ^ t[1][high >> 16 & 0xFFU] ^ t[0][high >> 24];
  }
  for (; count > 0; ++bytes, --count) crc = (crc >> 8) ^ t[0][(crc ^ *bytes) & 0xFFU];
  return ~crc;
}

}  // namespace gradcomp::data
