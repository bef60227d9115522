#include "gradcomp/data/formats/packed.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "gradcomp/core/error.hpp"
#include "gradcomp/data/files.hpp"
#include "unit/data/temp_dir.hpp"

namespace gradcomp::data {
namespace packed_test {

using test::Bytes;
using test::TempDir;
using ::testing::HasSubstr;

void put(Bytes& bytes, std::uint32_t value, int count) {
  for (int b = 0; b < count; ++b) bytes.push_back(static_cast<std::uint8_t>(value >> (8 * b) & 0xFFU));
}

struct File {
  Bytes bytes;
  std::string crc;
};

/// A file of version 2 with 1 x 2 x 3 images of 1000 classes. Labels and pixels count up from `first`.
File shard(std::uint32_t first, std::uint32_t n_train, std::uint32_t n_test, std::uint32_t width = 2) {
  Bytes bytes = {'G', 'C', 'D', 'S'};
  for (const std::uint32_t field : {2U, n_train, n_test, 1U, width, 3U, 1000U}) put(bytes, field, 4);
  for (std::uint32_t i = first; i < first + n_train + n_test; ++i) {
    put(bytes, 200 + 100 * i, 2);
    for (std::uint32_t p = 0; p < 3 * width; ++p) put(bytes, 10 * i + p, 1);
  }
  const std::uint32_t crc = crc32(bytes.data(), bytes.size());
  put(bytes, crc, 4);
  return {bytes, fmt::format("{:08x}", crc)};
}

void write(const TempDir& dir, const std::string& name, const std::string& text) {
  dir.write(name, Bytes(text.begin(), text.end()));
}

std::string error_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  ADD_FAILURE() << "no Error was thrown";
  return "";
}

TEST(Packed, ShardsAreReadInTheOrderOfTheIndex) {
  const TempDir dir;
  const File a = shard(0, 2, 1), b = shard(3, 1, 1);
  dir.write("z.gcds", a.bytes);
  dir.write("a b.gcds", b.bytes);
  write(dir, "index.txt", "GCDS-INDEX 1\n" + a.crc + " 2 1 z.gcds\n" + b.crc + " 1 1 a b.gcds\n");
  const ImageData data = open_dataset("packed:" + dir.path());
  EXPECT_EQ(data.name, "packed");
  EXPECT_TRUE(data.mirror);
  EXPECT_EQ(data.train.classes, 1000);
  EXPECT_EQ(data.train.labels, (std::vector<std::uint16_t>{200, 300}));
  EXPECT_EQ(data.validation.labels, (std::vector<std::uint16_t>{500}));
  EXPECT_EQ(data.test.labels, (std::vector<std::uint16_t>{400, 600}));
  EXPECT_EQ(data.validation.image(0)[5], 35);
  EXPECT_EQ(data.test.image(1)[0], 40);
  // The checksum covers both bytes of a label.
  Bytes all(data.train.pixels);
  for (const std::uint32_t label : {200U, 300U}) put(all, label, 2);
  all.insert(all.end(), data.validation.pixels.begin(), data.validation.pixels.end());
  put(all, 500U, 2);
  all.insert(all.end(), data.test.pixels.begin(), data.test.pixels.end());
  for (const std::uint32_t label : {400U, 600U}) put(all, label, 2);
  EXPECT_EQ(data.crc, fmt::format("{:08x}", crc32(all.data(), all.size())));
  // A single file.
  EXPECT_EQ(open_dataset("packed:" + dir.path() + "/z.gcds").train.count(), 1);
}

TEST(Packed, RefusesWhatTheIndexDoesNotList) {
  const TempDir dir;
  EXPECT_THAT(error_of([&] { read_packed(dir.path()); }), HasSubstr("index.txt"));
  const File a = shard(0, 2, 1), wide = shard(0, 1, 1, 3);
  dir.write("a.gcds", a.bytes);
  dir.write("wide.gcds", wide.bytes);
  const std::string head = "GCDS-INDEX 1\n";
  const auto error_with = [&](const std::string& index) {
    write(dir, "index.txt", index);
    return error_of([&] { read_packed(dir.path()); });
  };
  EXPECT_THAT(error_with("GCDS-INDEX 2\n"), HasSubstr("GCDS-INDEX 1"));
  EXPECT_THAT(error_with(head), HasSubstr("lists no file"));
  EXPECT_THAT(error_with(head + "x 1 a.gcds\n"), HasSubstr("line 2"));
  EXPECT_THAT(error_with(head + a.crc + " 2 1a.gcds\n"), HasSubstr("line 2"));
  EXPECT_THAT(error_with(head + a.crc + " 2x 1 a.gcds\n"), HasSubstr("line 2"));
  EXPECT_THAT(error_with(head + a.crc + " 99999999999999999999 1 a.gcds\n"), HasSubstr("line 2"));
  EXPECT_THAT(error_with(head + a.crc + " 2 1 a.gcds\n" + a.crc + " 2 1 a.gcds\n"),
              HasSubstr("line 3 lists 'a.gcds' a second time"));
  EXPECT_THAT(error_with(head + a.crc + " 2 1 ../a.gcds\n"), HasSubstr("line 2"));
  EXPECT_THAT(error_with(head + a.crc + " 2 1 b.gcds\n"), HasSubstr("no such file"));
  EXPECT_THAT(error_with(head + "00000000 2 1 a.gcds\n"), HasSubstr("is not the file"));
  EXPECT_THAT(error_with(head + a.crc + " 1 2 a.gcds\n"), HasSubstr("is not the file"));
  EXPECT_THAT(error_with(head + a.crc + " 2 1 a.gcds\n" + wide.crc + " 1 1 wide.gcds\n"), HasSubstr("another shape"));
}

}  // namespace packed_test
}  // namespace gradcomp::data
