// Slices of an earlier run, read from a result file.
#include "gradcomp/train/replay.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "error_of.hpp"

namespace gradcomp::train {
namespace replay_test {

using gradcomp::test::error_of;
using testing::ElementsAre;

/// A result file with this text, which ends with the test.
class File {
 public:
  explicit File(const std::string& text) { std::ofstream(path) << text; }
  ~File() { std::filesystem::remove(path); }

  std::string path = testing::TempDir() + "gradcomp_replay_test.json";
};

std::string refused(const std::string& path, const std::string& label, std::uint64_t seed, int ranks) {
  return error_of([&] { recorded_slices(path, label, seed, 0, ranks); });
}

TEST(RecordedSlices, AreThoseOfTheMethodTheSeedAndTheRank) {
  const File file(R"({"benchmarks": [{"label": "a", "seed": 1, "slices": [[1, 2], [3, 4]]},
                                     {"label": "a", "seed": 2, "slices": [[5], [6]]}, {"label": "b", "seed": 1}]})");
  EXPECT_THAT(recorded_slices(file.path, "a", 1, 0, 2), ElementsAre(1, 2));
  EXPECT_THAT(recorded_slices(file.path, "a", 1, 1, 2), ElementsAre(3, 4));
  EXPECT_THAT(recorded_slices(file.path, "a", 2, 1, 2), ElementsAre(6));
  EXPECT_EQ(refused(file.path, "b", 1, 2), "--replay-slices: '" + file.path + "' has no slices of 'b' with seed 1");
  EXPECT_EQ(refused(file.path, "a", 3, 2), "--replay-slices: '" + file.path + "' has no slices of 'a' with seed 3");
  EXPECT_EQ(refused(file.path, "a", 1, 3),
            "--replay-slices: '" + file.path + "' was made with 2 ranks, but this job has 3");
}

TEST(RecordedSlices, ComeFromAResultFileOnly) {
  EXPECT_EQ(refused("/no/such/file", "a", 1, 1), "cannot read '/no/such/file': there is no such file");
  for (const char* text : {"", "{", "[]", "{}", R"({"benchmarks": 1})"}) {
    const File file(text);
    EXPECT_THAT(refused(file.path, "a", 1, 1),
                testing::StartsWith("--replay-slices: '" + file.path + "' is no result file of gradcomp-train"));
  }
}

TEST(RecordedSlices, AreWholeNumbersThatASamplerCanTake) {
  for (const char* slice : {"-1", "1.5", "1e300", "4294967296", "\"3\"", "null", "[1]"}) {
    const File file(std::string(R"({"benchmarks": [{"label": "a", "seed": 1, "slices": [[1, )") + slice + "]]}]}");
    EXPECT_THAT(refused(file.path, "a", 1, 1), testing::HasSubstr("allowed: whole numbers from 0 to 1073741824"))
        << slice;
  }
}

}  // namespace replay_test
}  // namespace gradcomp::train
