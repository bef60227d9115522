#pragma once
// What the binary readers share: whole files in memory, and the checksum of zlib, PNG and gzip.
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace gradcomp::data {

/// All bytes of the regular file `path`; throws Error naming the file and the reason.
std::vector<std::uint8_t> read_file(const std::string& path);

/// CRC-32 (polynomial 0xEDB88320 reflected, as zlib's crc32()) of `bytes`, continued from `crc` (0 at the start).
std::uint32_t crc32(const std::uint8_t* bytes, std::size_t count, std::uint32_t crc = 0);

/// The 32-bit little-endian integer at `bytes`.
inline std::uint32_t little_endian_32(const std::uint8_t* bytes) {
  return static_cast<std::uint32_t>(bytes[0]) | static_cast<std::uint32_t>(bytes[1]) << 8 |
         static_cast<std::uint32_t>(bytes[2]) << 16 | static_cast<std::uint32_t>(bytes[3]) << 24;
}

}  // namespace gradcomp::data
