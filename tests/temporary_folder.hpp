#pragma once
// A fixture with its own folder, which is removed after the test.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace gradcomp::test {

class TemporaryFolder : public testing::Test {
 protected:
  TemporaryFolder() { std::filesystem::create_directories(m_folder); }
  ~TemporaryFolder() override { std::filesystem::remove_all(m_folder); }

  std::string path(const std::string& name) const { return (m_folder / name).string(); }
  static std::string content(const std::string& file) {
    std::ostringstream text;
    text << std::ifstream(file).rdbuf();
    return text.str();
  }
  /// How many there are in the folder.
  std::size_t files() const {
    using Files = std::filesystem::directory_iterator;
    return static_cast<std::size_t>(std::distance(Files(m_folder), Files{}));
  }

  std::filesystem::path m_folder = folder();

 private:
  static std::filesystem::path folder() {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    return std::filesystem::temp_directory_path() /
           ("gradcomp_" + std::to_string(::getpid()) + "_" + test->test_suite_name() + "_" + test->name());
  }
};

}  // namespace gradcomp::test
