#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <functional>

#include "gradcomp/core/error.hpp"
#include "gradcomp/data/files.hpp"
#include "gradcomp/data/formats/cifar.hpp"
#include "gradcomp/data/formats/gcds.hpp"
#include "unit/data/temp_dir.hpp"

namespace gradcomp::data {
namespace readers_test {

using test::Bytes;
using test::TempDir;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

/// The text of the Error that `call` must throw.
std::string error_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), Not(HasSubstr("\n")));
    return error.what();
  }
  ADD_FAILURE() << "no Error was thrown";
  return "";
}

/// A pixel value that depends on the place.
std::uint8_t pixel(int image, int y, int x, int c) {
  return static_cast<std::uint8_t>((image * 31 + y * 7 + x * 3 + c * 101) % 256);
}

constexpr int records = 3;

/// `records` records in the published format with the labels first, first + 1, ...
Bytes cifar_file(int first) {
  Bytes bytes;
  for (int r = 0; r < records; ++r) {
    bytes.push_back(static_cast<std::uint8_t>((first + r) % 10));
    for (int c = 0; c < 3; ++c)
      for (int y = 0; y < 32; ++y)
        for (int x = 0; x < 32; ++x) bytes.push_back(pixel(first + r, y, x, c));
  }
  return bytes;
}

void write_cifar(const TempDir& dir, const std::string& folder = "") {
  for (int b = 1; b <= 5; ++b) dir.write(folder + "data_batch_" + std::to_string(b) + ".bin", cifar_file(records * b));
  dir.write(folder + "test_batch.bin", cifar_file(0));
}

TEST(Crc32, KnownAnswer) {
  const std::string text = "123456789";
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(text.data());
  EXPECT_EQ(crc32(bytes, 9), 0xCBF43926U);  // the check value of the CRC catalogue
  EXPECT_EQ(crc32(bytes + 4, 5, crc32(bytes, 4)), 0xCBF43926U);
  EXPECT_EQ(crc32(bytes, 0), 0U);
}

TEST(Cifar, ReadsAllFilesAndTurnsToHwc) {
  for (const std::string folder : {"", "cifar-10-batches-bin/"}) {
    const TempDir dir;
    write_cifar(dir, folder);
    const ImageData data = read_cifar10(dir.path(), records);
    ASSERT_EQ(data.train.count(), 5 * records);
    ASSERT_EQ(data.test.count(), records);
    EXPECT_EQ(data.train.classes, 10);
    for (int i = 0; i < 5 * records; ++i) {
      EXPECT_EQ(data.train.labels[static_cast<std::size_t>(i)], (records + i) % 10);
      for (int y = 0; y < 32; ++y)
        for (int x = 0; x < 32; ++x)
          for (int c = 0; c < 3; ++c) ASSERT_EQ(data.train.image(i)[(y * 32 + x) * 3 + c], pixel(records + i, y, x, c));
    }
    EXPECT_EQ(data.test.image(2)[0], pixel(2, 0, 0, 0));
  }
}

TEST(Cifar, MissingFolderOrFile) {
  const TempDir dir;
  EXPECT_THAT(error_of([&] { read_cifar10(dir.path() + "/absent"); }), HasSubstr("absent"));
  write_cifar(dir);
  std::filesystem::remove(dir.path() + "/data_batch_4.bin");
  EXPECT_THAT(error_of([&] { read_cifar10(dir.path(), records); }), HasSubstr("data_batch_4.bin"));
}

TEST(Cifar, TruncatedFileSaysBothSizes) {
  const TempDir dir;
  write_cifar(dir);
  Bytes bytes = cifar_file(0);
  bytes.pop_back();
  dir.write("data_batch_2.bin", bytes);
  EXPECT_THAT(error_of([&] { read_cifar10(dir.path(), records); }),
              AllOf(HasSubstr("data_batch_2.bin"), HasSubstr("9218 bytes"), HasSubstr("expected 9219")));
  // By default, the published size is expected.
  EXPECT_THAT(error_of([&] { read_cifar10(dir.path()); }), HasSubstr("expected 30730000"));
}

/// `count` records of CIFAR-100, where record r has the coarse label r % 20 and the fine label r % 100.
Bytes cifar100_file(int first, int count) {
  Bytes bytes;
  for (int r = first; r < first + count; ++r) {
    bytes.push_back(static_cast<std::uint8_t>(r % 20));
    bytes.push_back(static_cast<std::uint8_t>(r % 100));
    for (int c = 0; c < 3; ++c)
      for (int y = 0; y < 32; ++y)
        for (int x = 0; x < 32; ++x) bytes.push_back(pixel(r, y, x, c));
  }
  return bytes;
}

TEST(Cifar100, FineAndCoarseLabels) {
  for (const std::string folder : {"", "cifar-100-binary/"}) {
    const TempDir dir;
    dir.write(folder + "train.bin", cifar100_file(18, 5 * records));
    dir.write(folder + "test.bin", cifar100_file(97, records));
    const ImageData fine = read_cifar100(dir.path(), false, records);
    EXPECT_EQ(fine.train.classes, 100);
    EXPECT_EQ(fine.train.count(), 15);
    EXPECT_EQ(fine.test.labels, (std::vector<std::uint16_t>{97, 98, 99}));
    const ImageData coarse = read_cifar100(dir.path(), true, records);
    EXPECT_EQ(coarse.train.classes, 20);
    EXPECT_EQ(coarse.train.labels[1], 19);
    EXPECT_EQ(coarse.train.labels[2], 0);
    EXPECT_NE(coarse.name, fine.name);
    for (int y = 0; y < 32; ++y)
      for (int c = 0; c < 3; ++c) ASSERT_EQ(fine.train.image(14)[(y * 32 + 5) * 3 + c], pixel(32, y, 5, c));
  }
  const TempDir dir;
  EXPECT_THAT(error_of([&] { read_cifar100(dir.path() + "/absent", false); }), HasSubstr("train.bin"));
  dir.write("train.bin", cifar100_file(0, 14));
  EXPECT_THAT(error_of([&] { read_cifar100(dir.path(), false, records); }),
              AllOf(HasSubstr("43036 bytes"), HasSubstr("expected 46110 (15 records of 3074)")));
}

TEST(Cifar100, LabelsAreFineUnlessCoarseOnesAreAskedFor) {
  const TempDir dir;
  for (const auto& [name, count] : {std::pair{"train.bin", 50'000U}, {"test.bin", 10'000U}}) {
    std::filesystem::resize_file(dir.write(name, {}), count * 3074U);  // zeros, in the published size
  }
  const auto classes = [&](const std::string& options) {
    return open_dataset("cifar100:" + dir.path() + options).train.classes;
  };
  EXPECT_EQ(classes(""), 100);
  EXPECT_EQ(classes(":labels=coarse"), 20);
  EXPECT_THAT(error_of([&] { classes(":labels=rough"); }), HasSubstr("fine, coarse"));
}

TEST(Cifar, LabelOutOfRange) {
  const TempDir dir;
  write_cifar(dir);
  Bytes bytes = cifar_file(0);
  bytes[3073] = 10;
  dir.write("test_batch.bin", bytes);
  EXPECT_THAT(error_of([&] { read_cifar10(dir.path(), records); }),
              AllOf(HasSubstr("test_batch.bin"), HasSubstr("record 1"), HasSubstr("label 10")));
}

void put32(Bytes& bytes, std::uint32_t value) {
  for (int shift = 0; shift < 32; shift += 8) bytes.push_back(static_cast<std::uint8_t>(value >> shift & 0xFFU));
}

/// A GCDS file with 3 training and 2 test images, which are 2 x 4 and grey, 5 classes and the labels 0 to 4. `change`
/// is applied before the checksum is computed.
Bytes gcds_file(const std::function<void(Bytes&)>& change = {}) {
  Bytes bytes = {'G', 'C', 'D', 'S'};
  for (const std::uint32_t field : {1U, 3U, 2U, 2U, 4U, 1U, 5U}) put32(bytes, field);
  for (std::uint8_t i = 0; i < 5; ++i) {
    bytes.push_back(i);
    for (std::uint8_t p = 0; p < 8; ++p) bytes.push_back(static_cast<std::uint8_t>(10 * i + p));
  }
  if (change) change(bytes);
  put32(bytes, crc32(bytes.data(), bytes.size()));
  return bytes;
}

TEST(Gcds, ReadsBothSets) {
  const TempDir dir;
  const ImageData data = read_gcds(dir.write("a.gcds", gcds_file()));
  EXPECT_EQ(data.train.count(), 3);
  EXPECT_EQ(data.test.count(), 2);
  EXPECT_EQ(data.train.height, 2);
  EXPECT_EQ(data.train.width, 4);
  EXPECT_EQ(data.train.channels, 1);
  EXPECT_EQ(data.train.classes, 5);
  EXPECT_EQ(data.test.labels, (std::vector<std::uint16_t>{3, 4}));
  EXPECT_EQ(data.train.image(2)[7], 27);
  EXPECT_EQ(data.test.image(1)[0], 40);
}

TEST(Gcds, RefusesWhatIsWrong) {
  struct Case {
    std::string expected;
    std::function<void(Bytes&)> change;
  };
  const std::vector<Case> cases = {
      {"not a GCDS file", [](Bytes& b) { b[0] = 'X'; }},
      {"version 3", [](Bytes& b) { b[4] = 3; }},
      {"expected 86 (5 images of 10 bytes)", [](Bytes& b) { b[4] = 2; }},
      {"expected 81 (5 images of 9 bytes)", [](Bytes& b) { b.pop_back(); }},
      {"expected 81", [](Bytes& b) { b.push_back(0); }},
      {"expected", [](Bytes& b) { b[8] = 4; }},
      {"expected", [](Bytes& b) { b[11] = 0xFF; }},
      {"impossible extents", [](Bytes& b) { b[16] = 0; }},
      {"impossible extents", [](Bytes& b) { b[18] = 0xFF; }},
      {"image 4 has label 5", [](Bytes& b) { b[32 + 36] = 5; }},
  };
  const TempDir dir;
  for (const auto& c : cases) {
    const auto path = dir.write("bad.gcds", gcds_file(c.change));
    EXPECT_THAT(error_of([&] { read_gcds(path); }), AllOf(HasSubstr("bad.gcds"), HasSubstr(c.expected)));
  }
}

TEST(Gcds, SaysWhichExtentsAreAllowed) {
  const TempDir dir;
  // The file with another value of a field of the header.
  const auto refused = [&](std::size_t field, std::uint32_t value, std::uint8_t version = 1) {
    const auto path = dir.write("a.gcds", gcds_file([&](Bytes& bytes) {
                                  bytes[4] = version;
                                  Bytes changed;
                                  put32(changed, value);
                                  std::copy(changed.begin(), changed.end(),
                                            bytes.begin() + static_cast<std::ptrdiff_t>(4 + 4 * field));
                                }));
    return error_of([&] { read_gcds(path); });
  };
  constexpr std::size_t n_train = 1, height = 3, width = 4, channels = 5, classes = 6;
  const std::string path = dir.path() + "/a.gcds";
  EXPECT_EQ(refused(height, 65537),
            "'" + path +
                "' has impossible extents: 3 training images (at least 1), 65537 x 4 x 1 (up to "
                "65536 x 65536 x 16), 5 classes (2 to 256)");
  EXPECT_EQ(refused(classes, 65537, 2),
            "'" + path +
                "' has impossible extents: 3 training images (at least 1), 2 x 4 x 1 (up to "
                "65536 x 65536 x 16), 65537 classes (2 to 65536)");
  for (const auto& [field, value] : {std::pair{n_train, 0U},
                                     {height, 0U},
                                     {width, 0U},
                                     {width, 65537U},
                                     {channels, 0U},
                                     {channels, 17U},
                                     {classes, 1U},
                                     {classes, 257U}}) {
    EXPECT_THAT(refused(field, value), HasSubstr("impossible extents")) << field;
  }
  for (const auto& [field, value] : {std::pair{height, 65536U}, {width, 65536U}, {channels, 16U}, {height, 1U}}) {
    EXPECT_THAT(refused(field, value), HasSubstr("expected")) << "another size of the file";
  }
}

TEST(Gcds, RefusesDamageAnywhere) {
  const TempDir dir;
  const Bytes good = gcds_file();
  for (std::size_t i = 0; i < good.size(); ++i) {
    Bytes bad = good;
    bad[i] ^= 0x40U;
    EXPECT_THROW(read_gcds(dir.write("bad.gcds", bad)), Error) << "byte " << i;
  }
  for (std::size_t size = 0; size < good.size(); ++size) {
    EXPECT_THROW(read_gcds(dir.write("bad.gcds", Bytes(good.begin(), good.begin() + static_cast<long>(size)))), Error);
  }
  EXPECT_THAT(error_of([&] { read_gcds(dir.path()); }), HasSubstr("not a regular file"));
  EXPECT_THAT(error_of([&] { read_gcds(dir.path() + "/none"); }), HasSubstr("no such file"));
}

}  // namespace readers_test
}  // namespace gradcomp::data
