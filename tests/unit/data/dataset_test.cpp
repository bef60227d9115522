#include "gradcomp/data/dataset.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gradcomp/core/error.hpp"
#include "gradcomp/data/files.hpp"
#include "unit/data/temp_dir.hpp"

namespace gradcomp::data {
namespace dataset_test {

using ::testing::HasSubstr;

std::string error_of(const std::string& spec) {
  try {
    open_dataset(spec);
  } catch (const Error& error) {
    return error.what();
  }
  ADD_FAILURE() << spec << " was accepted";
  return "";
}

TEST(Dataset, ErrorsListWhatIsAllowed) {
  for (const char* spec : {"", "mnist", "cifar10", "digits:", "gcds"}) {
    EXPECT_THAT(error_of(spec), HasSubstr("shapetex10[:key=value...]")) << spec;
  }
  EXPECT_THAT(error_of("shapetex10:nois=1"), HasSubstr("noise, rotation, shift"));
  EXPECT_THAT(error_of("shapetex10:noise=2"), HasSubstr("[0, 1]"));
  EXPECT_THAT(error_of("shapetex10:noise"), HasSubstr("not of the form key=value"));
  EXPECT_THAT(error_of("shapetex10:noise=0:noise=0"), HasSubstr("twice"));
  EXPECT_THAT(error_of("shapetex10:small=9:large=8"), HasSubstr("above large"));
  EXPECT_THAT(error_of("digits:/nowhere/d.gcds"), HasSubstr("/nowhere/d.gcds"));
}

TEST(Dataset, DigitsBecomeThreeEqualChannels) {
  const test::TempDir dir;
  test::Bytes bytes = {'G', 'C', 'D', 'S', 1, 0, 0, 0, 3, 0, 0, 0, 1, 0, 0, 0,
                       1,   0,   0,   0,   2, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0};
  for (const std::uint8_t b : {0, 0, 100, 1, 200, 100, 1, 50, 60, 1, 7, 9}) bytes.push_back(b);
  const std::uint32_t crc = crc32(bytes.data(), bytes.size());
  for (int shift = 0; shift < 32; shift += 8) bytes.push_back(static_cast<std::uint8_t>(crc >> shift & 0xFFU));
  const ImageData data = open_dataset("digits:" + dir.write("d:1.gcds", bytes));
  EXPECT_EQ(data.name, "digits");
  EXPECT_FALSE(data.mirror);
  EXPECT_EQ(data.train.channels, 3);
  EXPECT_EQ(data.train.pixels, (test::Bytes{0, 0, 0, 100, 100, 100, 200, 200, 200, 100, 100, 100}));
  EXPECT_EQ(data.validation.pixels, (test::Bytes{50, 50, 50, 60, 60, 60})) << "the last image is for validation";
  EXPECT_EQ(data.test.pixels, (test::Bytes{7, 7, 7, 9, 9, 9}));
  ASSERT_EQ(data.mean.size(), 3U);
  // The training pixels are 0, 100, 200, 100, with mean 100 and variance 5000.
  for (std::size_t c = 0; c < 3; ++c) {
    EXPECT_FLOAT_EQ(data.mean[c], 100.0F / 255.0F);
    EXPECT_FLOAT_EQ(data.std[c], std::sqrt(5000.0F) / 255.0F);
  }
  EXPECT_EQ(data.crc.size(), 8U);
}

TEST(Dataset, ChannelWithoutSpreadHasDeviationOne) {
  ImageData data;
  data.train = {1, 2, 1, 2, {50, 50}, {0}};
  data.test = {1, 2, 1, 2, {}, {}};
  describe(data);
  EXPECT_FLOAT_EQ(data.std[0], 1.0F);
  EXPECT_FLOAT_EQ(data.mean[0], 50.0F / 255.0F);
}

}  // namespace dataset_test
}  // namespace gradcomp::data
