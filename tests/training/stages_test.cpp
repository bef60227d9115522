// A checkpoint whose stages have not as many times as there were steps is refused.
#include <algorithm>
#include <cstring>

#include "error_of.hpp"
#include "gradcomp/data/files.hpp"
#include "gradcomp/train/snapshot.hpp"
#include "gradcomp/train/trainer.hpp"
#include "training/rig.hpp"

namespace gradcomp::train::test {
namespace stages_test {

using gradcomp::test::error_of;

/// The checkpoint without the last number of one array of doubles.
Snapshot shortened(const Snapshot& whole, const std::string& name) {
  std::vector<double> values;
  whole.get(name, values);
  const std::size_t last = values.size() * sizeof(double) - sizeof(double);
  auto file = whole.encode();
  const auto* name_bytes = reinterpret_cast<const std::byte*>(name.data());
  const auto at = std::search(file.begin(), file.end(), name_bytes, name_bytes + name.size());
  std::memcpy(&*at - sizeof(std::uint64_t), &last, sizeof last);  // the length of the array
  const auto content = at + std::ssize(name) + static_cast<std::ptrdiff_t>(last);
  file.erase(content, content + sizeof(double));
  const auto* data = reinterpret_cast<std::uint8_t*>(file.data());
  const std::uint32_t crc = data::crc32(data, file.size() - sizeof crc);
  std::memcpy(file.data() + file.size() - sizeof crc, &crc, sizeof crc);
  return Snapshot::decode({data, file.size()}, "f");
}

TEST(Resume, RefusesStagesWithAnotherNumberOfTimes) {
  Rig rig;
  const auto contender = rig.parse("fp32").front();
  Trainer trained(rig.job(), contender), fresh(rig.job(), contender);
  for (int step = 0; step < 3; ++step) trained.step(Exec(), false);
  trained.drain(Exec());
  Snapshot whole;
  trained.save(Exec(), whole, "m/");
  for (const char* stage : {"m/stage/exposed", "m/stage/forward", "m/stage/update"}) {
    EXPECT_EQ(error_of([&] { fresh.restore(Exec(), shortened(whole, stage), "m/", 3); }),
              "the checkpoint has not as many times for each stage as it has timed steps (3)")
        << stage;
  }
  EXPECT_EQ(error_of([&] { fresh.restore(Exec(), whole, "m/", 3); }), "");
}

}  // namespace stages_test
}  // namespace gradcomp::train::test
