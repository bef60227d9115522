#pragma once
// Writes files completely or not at all: results, checkpoints and arrays.
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace gradcomp {

/// Throws Error with the path and the reason if no file can be written at `path` now. Call it before a run, so that a
/// missing folder is found at once and not after hours. An empty path is allowed: it means that no file is wanted.
void check_writable(const std::string& path);

/// Replaces the contents of the file at `path` by `head` followed by `body`: writes a temporary file in the same
/// folder, calls fsync() and renames it. Follows symbolic links. If this fails, throws Error and leaves the old file.
void write_atomically(const std::string& path, std::string_view head, std::span<const std::byte> body = {});

}  // namespace gradcomp
