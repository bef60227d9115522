// What lists, docs and the parser need from info().
#include <algorithm>
#include <filesystem>
#include <set>

#include "conformance/cases.hpp"
#include "gradcomp/core/error.hpp"
#include "gradcomp/exchange/reducer.hpp"
#include "gradcomp/exchange/registry.hpp"
#include "gradcomp/method/spec.hpp"
#include "source_dir.hpp"

namespace gradcomp::conformance {

TEST_P(Conformance, InfoIsComplete) {
  const MethodSpec spec = method("none");
  const Info& info = spec.compressor->info();
  std::string names;  // names of the parts, joined as in a spec
  bool option = false;
  for (const char c : GetParam()) {
    option = c == ':' || (option && c != '+');
    if (!option) names += c;
  }
  EXPECT_EQ(info.name, names);
  EXPECT_FALSE(info.summary.empty());
  EXPECT_EQ(info.summary.find('\n'), std::string::npos);
  EXPECT_FALSE(info.paper.empty());
  EXPECT_FALSE(info.bytes_formula.empty());
  EXPECT_NO_THROW(reducer_for(info.reducer, info));
  EXPECT_GE(info.rounds.size(), 1u);
  EXPECT_LE(info.rounds.size(), 3u);
  EXPECT_GE(info.granule, 1);
  for (const Moves& moves : {info.compress, info.decompress}) {
    EXPECT_GE(moves.read, 0);
    EXPECT_GE(moves.written, 0);
    EXPECT_GE(moves.updated, 0);
  }
  if (info.feedback != "none") {
    EXPECT_GE(info.compress.updated, 1) << "the memory is read and written";
  }
  EXPECT_GT(info.learning_rate_scale, 0);
  std::set<std::string> declared;
  for (const auto& p : info.parameters) {
    EXPECT_TRUE(declared.insert(p.name).second) << p.name << " is declared twice";
    EXPECT_FALSE(p.help.empty()) << p.name;
    EXPECT_NO_THROW(p.check(info.name, p.default_value));
    EXPECT_EQ(p.default_value.find_first_of(":,+"), std::string::npos) << p.name;
  }
  for (const auto& p : common_parameters(info))
    EXPECT_FALSE(declared.contains(p.name)) << p.name << " is a common option";
}

TEST_P(Conformance, CanonicalSpecIsAFixedPoint) {
  const MethodSpec spec = parse_method(GetParam());
  EXPECT_EQ(parse_method(spec.canonical).canonical, spec.canonical);
  EXPECT_EQ(parse_method(spec.canonical).compressor->options().canonical(), spec.compressor->options().canonical());
}

TEST(Registry, OneEntryPerFileOfTheFolder) {
  std::set<std::string> files, names;
  for (const auto& file :
       std::filesystem::directory_iterator(std::filesystem::path(source_dir) / "src/gradcomp/compressors")) {
    if (file.path().extension() == ".cpp") files.insert(file.path().stem());
  }
  for (const auto& entry : all_entries()) names.insert(entry.info.name);
  EXPECT_EQ(files, names);
  EXPECT_TRUE(std::is_sorted(all_entries().begin(), all_entries().end(),
                             [](const Entry& a, const Entry& b) { return a.info.name < b.info.name; }));
}

}  // namespace gradcomp::conformance
