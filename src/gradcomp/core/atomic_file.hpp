#pragma once
// Files that are written whole or not at all: results, checkpoints, arrays.
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace gradcomp {

/// Throws Error, one line naming the path and the reason, unless a file at `path` could be written now. Call it before
/// the run: nobody wants to learn after an hour that the folder is missing. An empty path is fine (no output wanted).
void check_writable(const std::string& path);

/// Replaces the file at `path` by `head` and then `body`: temporary file in the same folder, fsync, rename. Symbolic
/// links are followed. Throws Error, and leaves what was there before, when any step fails.
void write_atomically(const std::string& path, std::string_view head, std::span<const std::byte> body = {});

}  // namespace gradcomp
