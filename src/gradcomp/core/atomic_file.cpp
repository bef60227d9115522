#include "gradcomp/core/atomic_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "gradcomp/core/error.hpp"

namespace gradcomp {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const std::string& path, const std::string& reason) {
  throw Error(fmt::format("cannot write '{}': {}", path, reason));
}

/// The file behind symbolic links: rename() must replace the file, not the link to it. The path is made absolute first,
/// because weakly_canonical() would leave the bare name of a new file without a folder.
fs::path resolved(const std::string& path) {
  std::error_code error;
  auto real = fs::absolute(path, error);
  if (!error) real = fs::weakly_canonical(real, error);
  return error ? fs::path(path) : real;
}

/// A hidden file. Its name contains the process id, so that two runs that write the same file do not share it.
fs::path temporary_name(const fs::path& target) {
  return target.parent_path() / fmt::format(".{}.{}.tmp", target.filename().string(), ::getpid());
}

/// Opens the temporary file for writing. If that is impossible, throws Error with the user's path and the reason.
int open_temporary(const std::string& path, const fs::path& target, const fs::path& temporary) {
  const auto folder = target.parent_path();
  std::error_code error;
  const auto status = fs::status(target, error);
  if (fs::is_directory(status)) fail(path, "it is a directory");
  if (fs::exists(status) && !fs::is_regular_file(status)) fail(path, "it is not a regular file");
  if (!fs::exists(folder, error)) fail(path, fmt::format("there is no directory '{}'", folder.string()));
  if (!fs::is_directory(folder, error)) fail(path, fmt::format("'{}' is not a directory", folder.string()));
  if (fs::exists(status) && ::access(target.c_str(), W_OK) != 0) fail(path, std::strerror(errno));
  const int file = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file < 0) fail(path, std::strerror(errno));
  return file;
}

/// Writes all bytes, even if single calls write fewer. If a call fails, returns false and leaves the reason in errno.
bool write_all(int file, const void* bytes, std::size_t size) {
  std::size_t done = 0;
  while (done < size) {
    const auto count = ::write(file, static_cast<const char*>(bytes) + done, size - done);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return false;
    done += static_cast<std::size_t>(count);
  }
  return true;
}

}  // namespace

void check_writable(const std::string& path) {
  if (path.empty()) return;
  const auto target = resolved(path);
  const auto temporary = temporary_name(target);
  ::close(open_temporary(path, target, temporary));
  ::unlink(temporary.c_str());
}

void write_atomically(const std::string& path, std::string_view head, std::span<const std::byte> body) {
  const auto target = resolved(path);
  const auto temporary = temporary_name(target);
  const int file = open_temporary(path, target, temporary);
  // close() can report a failed write too (network file systems), so its result counts.
  bool good =
      write_all(file, head.data(), head.size()) && write_all(file, body.data(), body.size()) && ::fsync(file) == 0;
  int reason = good ? 0 : errno;
  if (::close(file) != 0 && good) good = false, reason = errno;
  if (good && std::rename(temporary.c_str(), target.c_str()) != 0) good = false, reason = errno;
  if (!good) {
    ::unlink(temporary.c_str());
    fail(path, std::strerror(reason));
  }
}

}  // namespace gradcomp
