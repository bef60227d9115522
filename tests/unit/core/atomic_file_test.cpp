// Files are written whole or not at all, and paths that cannot be written are found before the run.
#include "gradcomp/core/atomic_file.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <filesystem>

#include "error_of.hpp"
#include "temporary_folder.hpp"

namespace gradcomp {
namespace atomic_file_test {

namespace fs = std::filesystem;
using test::error_of;

using AtomicFileTest = test::TemporaryFolder;

TEST_F(AtomicFileTest, WritesTheBodyBehindTheHead) {
  const std::array<std::byte, 3> body = {std::byte{'x'}, std::byte{0}, std::byte{'y'}};
  write_atomically(path("a"), "head ", body);
  EXPECT_EQ(content(path("a")), std::string("head x\0y", 8));
  write_atomically(path("a"), {}, body);
  EXPECT_EQ(content(path("a")), std::string("x\0y", 3));
  EXPECT_EQ(files(), 1u) << "a temporary file is left";
}

TEST_F(AtomicFileTest, ReplacesAnOlderFileAndFollowsLinks) {
  write_atomically(path("a.json"), "old and longer than the new text");
  fs::create_symlink("a.json", path("link.json"));
  write_atomically(path("link.json"), "new");
  EXPECT_EQ(content(path("a.json")), "new");
  EXPECT_TRUE(fs::is_symlink(path("link.json")));
}

TEST_F(AtomicFileTest, CheckLeavesNothingAndKeepsTheOldFile) {
  write_atomically(path("a.json"), "old");
  check_writable(path("a.json"));
  check_writable(path("new.json"));
  check_writable("");
  EXPECT_EQ(content(path("a.json")), "old");
  EXPECT_EQ(files(), 1u);
}

TEST_F(AtomicFileTest, UnwritablePathsAreNamedInOneLine) {
  for (const auto& [bad, reason] :
       {std::pair{path("missing/a.json"), "there is no directory"}, std::pair{m_folder.string(), "it is a directory"},
        std::pair{std::string("/dev/null"), "it is not a regular file"}}) {
    const auto message = error_of([&, name = bad] { check_writable(name); });
    EXPECT_NE(message.find(bad), std::string::npos) << message;
    EXPECT_NE(message.find(reason), std::string::npos) << message;
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
  }
  write_atomically(path("file"), "");
  EXPECT_NE(error_of([&] { check_writable(path("file/a.json")); }), "");
}

TEST_F(AtomicFileTest, AFullDeviceLeavesTheOldFile) {
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "no /dev/full";
  // Makes the temporary name of this process a link to the device that refuses every write.
  write_atomically(path("a.json"), "old");
  const auto temporary = path(".a.json." + std::to_string(::getpid()) + ".tmp");
  fs::create_symlink("/dev/full", temporary);
  EXPECT_NE(error_of([&] { write_atomically(path("a.json"), "new"); }), "");
  EXPECT_EQ(content(path("a.json")), "old");
  EXPECT_EQ(files(), 1u);
}

}  // namespace atomic_file_test
}  // namespace gradcomp
