#include "gradcomp/train/snapshot.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "error_of.hpp"
#include "gradcomp/core/error.hpp"
#include "gradcomp/data/files.hpp"

namespace gradcomp::train {
namespace snapshot_test {

std::vector<std::uint8_t> file_of(const Snapshot& snapshot) {
  const auto bytes = snapshot.encode();
  const auto* first = reinterpret_cast<const std::uint8_t*>(bytes.data());
  return {first, first + bytes.size()};
}

Snapshot example() {
  Snapshot snapshot;
  snapshot.put("numbers", std::vector<double>{1, 2.5, -0.0});
  snapshot.put("none", std::vector<double>{});
  const Vector<float> device("", 5);
  Kokkos::deep_copy(device, 3.0F);
  snapshot.put(Exec(), "device", {"", device.data(), 20, false});
  return snapshot;
}

TEST(Snapshot, SurvivesTheFile) {
  const Snapshot read = Snapshot::decode(file_of(example()), "f");
  std::vector<double> numbers, none{1};
  read.get("numbers", numbers);
  read.get("none", none);
  EXPECT_EQ(numbers, (std::vector<double>{1, 2.5, -0.0}));
  EXPECT_TRUE(none.empty());
  const Vector<float> device("", 5);
  read.get(Exec(), "device", {"", device.data(), 20, false});
  const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), device);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(host(i), 3.0F);
  EXPECT_THROW(read.get("other", numbers), Error);
  EXPECT_THROW(read.get(Exec(), "device", {"", device.data(), 16, false}), Error) << "another size";
}

TEST(Snapshot, RefusesASecondArrayOfTheSameName) {
  Snapshot snapshot = example();
  EXPECT_THROW(snapshot.put("numbers", std::vector<double>{7}), Error);
  const Vector<float> device("", 5);
  EXPECT_THROW(snapshot.put(Exec(), "device", {"", device.data(), 20, false}), Error);
  std::vector<double> numbers;
  snapshot.get("numbers", numbers);
  EXPECT_EQ(numbers, (std::vector<double>{1, 2.5, -0.0})) << "the first one stays";
}

TEST(Snapshot, RefusesAFileThatHasAnArrayTwice) {
  Snapshot snapshot;
  snapshot.put("a", std::vector<double>{1});
  snapshot.put("b", std::vector<double>{2});
  auto file = file_of(snapshot);
  *std::find(file.begin(), file.end(), 'b') = 'a';
  const std::uint32_t crc = data::crc32(file.data(), file.size() - 4);
  std::memcpy(file.data() + file.size() - 4, &crc, 4);
  EXPECT_EQ(gradcomp::test::error_of([&] { Snapshot::decode(file, "f"); }), "checkpoint 'f' has the array 'a' twice");
}

TEST(Snapshot, RefusesEveryDamage) {
  const auto file = file_of(example());
  for (std::size_t length = 0; length < file.size(); ++length) {
    EXPECT_THROW(Snapshot::decode(std::span(file).first(length), "f"), Error) << length;
  }
  for (std::size_t i = 0; i < file.size(); ++i) {
    auto damaged = file;
    damaged[i] ^= 0x40U;
    EXPECT_THROW(Snapshot::decode(damaged, "f"), Error) << i;
  }
  EXPECT_NO_THROW(Snapshot::decode(file_of(Snapshot()), "f"));
}

}  // namespace snapshot_test
}  // namespace gradcomp::train
