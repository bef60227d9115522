#pragma once
// What readers and writers share: whole files in memory, names of files, and CRC-32, the cyclic redundancy check of
// zlib, PNG and gzip.
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace gradcomp::data {

/// What `path` is, which may be nothing. If that cannot be known, as of a name that is too long, throws Error that
/// names the path and the reason. The functions of std::filesystem without an error code would throw another line.
std::filesystem::file_status status_of(const std::filesystem::path& path);
bool is_folder(const std::filesystem::path& path);

/// The files of a folder whose names end in `extension`, sorted. Throws Error that names the folder and the reason.
std::vector<std::filesystem::path> files_in(const std::string& folder, const std::string& extension);

/// All bytes of the regular file `path`. Throws Error that names the file and the reason.
std::vector<std::uint8_t> read_file(const std::string& path);

/// The characters of the text file `path`: UTF-8, without a byte order mark. Throws Error that names the file and the
/// reason, also if it is empty or holds zero bytes.
std::string read_text(const std::string& path);

/// Makes the folder `path` and its parents if they are missing. If files cannot be written there, throws Error that
/// names the folder and the reason.
void require_writable_folder(const std::string& path);

/// `text` as a part of a file name: every character but letters, digits and . _ = + - becomes _, a dot at the front
/// too. An empty text becomes _ as well.
std::string file_name_part(const std::string& text);

/// CRC-32 (reflected polynomial 0xEDB88320, as zlib's crc32()) of `bytes`, continued from `crc` (0 at the start).
std::uint32_t crc32(const std::uint8_t* bytes, std::size_t count, std::uint32_t crc = 0);
inline constexpr std::size_t checksum_size = 4;  ///< bytes of a CRC-32 at the end of a file

/// The 32-bit little-endian integer at `bytes`.
inline std::uint32_t little_endian_32(const std::uint8_t* bytes) {
  return static_cast<std::uint32_t>(bytes[0]) | static_cast<std::uint32_t>(bytes[1]) << 8 |
         static_cast<std::uint32_t>(bytes[2]) << 16 | static_cast<std::uint32_t>(bytes[3]) << 24;
}

}  // namespace gradcomp::data
