#pragma once
// What the binary readers and writers share: whole files in memory, files that appear whole or not at all, and the
// checksum of zlib, PNG and gzip.
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gradcomp::data {

/// All bytes of the regular file `path`; throws Error naming the file and the reason.
std::vector<std::uint8_t> read_file(const std::string& path);

/// Writes `head` and then `body` to the file `path`, replacing what was there: temporary file in the same folder, then
/// rename. Throws Error naming the path and the reason, and leaves no temporary file, when any step fails.
void replace_file(const std::string& path, std::string_view head, std::span<const std::byte> body);

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
