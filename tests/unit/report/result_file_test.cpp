// Result files are written whole or not at all, and unwritable outputs are found before the run.
#include "gradcomp/report/result_file.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "error_of.hpp"

namespace gradcomp::report {
namespace {

namespace fs = std::filesystem;
using test::error_of;

class ResultFileTest : public testing::Test {
 protected:
  ResultFileTest() { fs::create_directories(m_folder); }
  ~ResultFileTest() override { fs::remove_all(m_folder); }

  std::string path(const std::string& name) const { return (m_folder / name).string(); }
  static std::string content(const std::string& file) {
    std::ostringstream text;
    text << std::ifstream(file).rdbuf();
    return text.str();
  }
  std::size_t files() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(m_folder), fs::directory_iterator{}));
  }

  fs::path m_folder = fs::temp_directory_path() / ("gradcomp_report_" + std::to_string(::getpid()) + "_" +
                                                   testing::UnitTest::GetInstance()->current_test_info()->name());
};

TEST_F(ResultFileTest, WritesWhatWasAdded) {
  ResultFile file(path("a.json"), Json{{"date", "today"}});
  file.add(Row("case/1").set("payload_bytes", 12)).add(Row("case/2").set("label", "x"));
  EXPECT_EQ(files(), 0u) << "nothing before write()";
  file.write();
  EXPECT_EQ(files(), 1u) << "no temporary file stays";
  const auto read = Json::parse(content(path("a.json")));
  EXPECT_EQ(read, file.document());
  EXPECT_EQ(read["context"]["date"], "today");
  EXPECT_EQ(read["benchmarks"][0]["payload_bytes"], 12);
  EXPECT_EQ(read["benchmarks"][1]["name"], "case/2");
}

TEST_F(ResultFileTest, TakesABareNameInTheCurrentFolder) {
  const auto before = fs::current_path();
  fs::current_path(m_folder);
  EXPECT_EQ(error_of([] { ResultFile("bare.json", Json::object()).write(); }), "");
  fs::current_path(before);
  EXPECT_TRUE(fs::exists(path("bare.json")));
}

TEST_F(ResultFileTest, ReplacesAnOlderFileAndFollowsLinks) {
  write_atomically(path("a.json"), "old and longer than the new text");
  fs::create_symlink("a.json", path("link.json"));
  write_atomically(path("link.json"), "new");
  EXPECT_EQ(content(path("a.json")), "new");
  EXPECT_TRUE(fs::is_symlink(path("link.json")));
}

TEST_F(ResultFileTest, EmptyPathWritesNothing) {
  ResultFile file("", Json::object());
  EXPECT_FALSE(file.wanted());
  file.write();
  EXPECT_EQ(files(), 0u);
}

TEST_F(ResultFileTest, BytesThatAreNoUtf8AreReplaced) {
  ResultFile file(path("a.json"), Json{{"executable", "\xff"}});
  file.write();
  EXPECT_FALSE(Json::parse(content(path("a.json")))["context"]["executable"].get<std::string>().empty());
}

TEST_F(ResultFileTest, CheckLeavesNothingAndKeepsTheOldFile) {
  write_atomically(path("a.json"), "old");
  check_writable(path("a.json"));
  check_writable(path("new.json"));
  check_writable("");
  EXPECT_EQ(content(path("a.json")), "old");
  EXPECT_EQ(files(), 1u);
}

TEST_F(ResultFileTest, UnwritablePathsAreNamedInOneLine) {
  for (const auto& [bad, reason] :
       {std::pair{path("missing/a.json"), "there is no directory"}, std::pair{m_folder.string(), "it is a directory"},
        std::pair{std::string("/dev/null"), "it is not a regular file"}}) {
    const auto message = error_of([&, name = bad] { check_writable(name); });
    EXPECT_NE(message.find(bad), std::string::npos) << message;
    EXPECT_NE(message.find(reason), std::string::npos) << message;
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
    EXPECT_EQ(error_of([&, name = bad] { ResultFile(name, Json::object()); }), message) << "found at construction";
  }
  write_atomically(path("file"), "");
  EXPECT_NE(error_of([&] { check_writable(path("file/a.json")); }), "");
}

TEST_F(ResultFileTest, AFullDeviceLeavesTheOldFile) {
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "no /dev/full";
  // The temporary name of this process, made a link to the device that refuses every write.
  write_atomically(path("a.json"), "old");
  const auto temporary = path(".a.json." + std::to_string(::getpid()) + ".tmp");
  fs::create_symlink("/dev/full", temporary);
  EXPECT_NE(error_of([&] { write_atomically(path("a.json"), "new"); }), "");
  EXPECT_EQ(content(path("a.json")), "old");
  EXPECT_EQ(files(), 1u);
}

}  // namespace
}  // namespace gradcomp::report
