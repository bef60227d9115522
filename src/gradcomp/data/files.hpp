#pragma once
// What the binary readers and writers share: whole files in memory, and the checksum of zlib, PNG and gzip.
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace gradcomp::data {

/// All bytes of the regular file `path`; throws Error naming the file and the reason.
std::vector<std::uint8_t> read_file(const std::string& path);

/// Makes the folder `path`, parents too, where it is missing. Throws Error naming it and the reason unless files can be
/// written there.
void require_writable_folder(const std::string& path);

/// `text` as a part of a file name: all but letters, digits and . _ = + - become _, and an empty text too.
std::string file_name_part(const std::string& text);

/// CRC-32 (polynomial 0xEDB88320 reflected, as zlib's crc32()) of `bytes`, continued from `crc` (0 at the start).
std::uint32_t crc32(const std::uint8_t* bytes, std::size_t count, std::uint32_t crc = 0);
inline constexpr std::size_t checksum_size = 4;  ///< of that sum at the end of a file

/// The 32-bit little-endian integer at `bytes`.
inline std::uint32_t little_endian_32(const std::uint8_t* bytes) {
  return static_cast<std::uint32_t>(bytes[0]) | static_cast<std::uint32_t>(bytes[1]) << 8 |
         static_cast<std::uint32_t>(bytes[2]) << 16 | static_cast<std::uint32_t>(bytes[3]) << 24;
}

}  // namespace gradcomp::data
