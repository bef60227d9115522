// Result files contain what was added, and outputs that cannot be written are found before the run.
#include "gradcomp/report/result_file.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>

#include "error_of.hpp"
#include "temporary_folder.hpp"

namespace gradcomp::report {
namespace result_file_test {

namespace fs = std::filesystem;
using test::error_of;

using ResultFileTest = test::TemporaryFolder;

TEST_F(ResultFileTest, WritesWhatWasAdded) {
  ResultFile file(path("a.json"), Json{{"date", "today"}});
  file.add(Row("case/1").set("payload_bytes", 12)).add(Row("case/2").set("label", "x"));
  EXPECT_EQ(files(), 0u) << "write() was not called yet";
  file.write();
  EXPECT_EQ(files(), 1u) << "a temporary file is left";
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

TEST_F(ResultFileTest, AnUnwritablePathIsFoundAtConstruction) {
  EXPECT_NE(error_of([&] { ResultFile(path("missing/a.json"), Json::object()); }), "");
}

}  // namespace result_file_test
}  // namespace gradcomp::report
