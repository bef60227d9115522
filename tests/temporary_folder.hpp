#pragma once
// A fixture with its own folder, which is removed after the test.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "unit/data/temp_dir.hpp"

namespace gradcomp::test {

class TemporaryFolder : public testing::Test {
 protected:
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

  TempDir m_owner;
  std::filesystem::path m_folder = m_owner.path();
};

}  // namespace gradcomp::test
