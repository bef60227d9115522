#pragma once
// A folder with files that exists during a test.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace gradcomp::test {

using Bytes = std::vector<std::uint8_t>;

class TempDir {
 public:
  /// The name contains the process and the test, because runs with 1 and 2 threads run at the same time.
  TempDir()
      : m_path(std::filesystem::temp_directory_path() /
               ("gradcomp." + std::to_string(::getpid()) + "." +
                ::testing::UnitTest::GetInstance()->current_test_info()->name())) {
    std::filesystem::create_directories(m_path);
  }
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;
  ~TempDir() {
    std::error_code ignored;
    std::filesystem::remove_all(m_path, ignored);
  }

  std::string path() const { return m_path.string(); }
  std::string write(const std::string& name, const Bytes& bytes) const {
    const auto file = m_path / name;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream out(file, std::ios::binary);
    out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    return file.string();
  }

 private:
  std::filesystem::path m_path;
};

}  // namespace gradcomp::test
