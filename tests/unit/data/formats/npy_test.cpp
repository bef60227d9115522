// Files of NumPy arrays, byte by byte. tests/golden/npy_numpy.py compares with NumPy itself.
#include "gradcomp/data/formats/npy.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "error_of.hpp"
#include "gradcomp/data/files.hpp"
#include "unit/data/temp_dir.hpp"

namespace gradcomp::data {
namespace npy_test {

using test::Bytes;
using test::error_of;
using test::TempDir;

/// A file of this version with this dictionary, of less than 256 bytes, and these bytes behind it.
Bytes file(const std::string& dictionary, const Bytes& content, int major = 1) {
  Bytes bytes = {0x93, 'N', 'U', 'M', 'P', 'Y', static_cast<std::uint8_t>(major), 0};
  bytes.push_back(static_cast<std::uint8_t>(dictionary.size()));
  for (int i = 1; i < (major == 1 ? 2 : 4); ++i) bytes.push_back(0);
  bytes.insert(bytes.end(), dictionary.begin(), dictionary.end());
  bytes.insert(bytes.end(), content.begin(), content.end());
  return bytes;
}

std::string dictionary(const std::string& descr, const std::string& shape, const char* fortran = "False") {
  return "{'descr': '" + descr + "', 'fortran_order': " + fortran + ", 'shape': " + shape + "}";
}

TEST(Npy, IsWrittenAsNumpyWritesIt) {
  const TempDir dir;
  const std::string path = dir.path() + "/a.npy";
  const std::vector<float> values{1, -2, 3, 4, 5, 6};
  const std::vector<std::pair<std::vector<index_t>, std::string>> shapes = {{{2, 3}, "(2, 3)"}, {{6}, "(6,)"}};
  for (const auto& [shape, text] : shapes) {
    write_npy(path, values, shape);
    const auto bytes = read_file(path);
    ASSERT_EQ(bytes.size(), 128U + 24U) << "data begin at a multiple of 64 bytes";
    const std::string head(bytes.begin(), bytes.begin() + 128);
    const std::string dictionary = "{'descr': '<f4', 'fortran_order': False, 'shape': " + text + ", }";
    EXPECT_EQ(head, std::string("\x93NUMPY\x01\x00\x76\x00", 10) + dictionary +
                        std::string(117 - dictionary.size(), ' ') + "\n");
    EXPECT_EQ(read_npy(path).values, values);
    EXPECT_EQ(read_npy(path).shape, shape);
  }
  write_npy(path, values);
  EXPECT_EQ(read_npy(path).shape, (std::vector<index_t>{6}));
  EXPECT_EQ(error_of([&] { write_npy(path, values, {2, 2}); }),
            "cannot write '" + path + "': its shape has 4 elements, but there are 6 values");
}

TEST(Npy, ReadsAllVersionsAndTypes) {
  for (const int major : {1, 2, 3}) {
    EXPECT_EQ(parse_npy("f", file(dictionary("<f4", "(1,)"), {0, 0, 0x80, 0x3F}, major)).values, std::vector<float>{1});
  }
  EXPECT_EQ(parse_npy("f", file(dictionary("<f8", "()"), {0, 0, 0, 0, 0, 0, 0x04, 0xC0})).values,
            std::vector<float>{-2.5});
  // The smallest half, 2^-24; the largest below the normal ones; 1; -65504, the largest; -infinity; not a number.
  const auto halves =
      parse_npy("f", file(dictionary("<f2", "(6,)"), {1, 0, 0xFF, 0x03, 0, 0x3C, 0xFF, 0xFB, 0, 0xFC, 1, 0x7C})).values;
  EXPECT_EQ(std::vector<float>(halves.begin(), halves.end() - 1),
            (std::vector<float>{0x1p-24F, 1023 * 0x1p-24F, 1, -65504, -INFINITY}));
  EXPECT_TRUE(std::isnan(halves[5]));
}

TEST(Npy, FortranOrderIsTurned) {
  Bytes content;
  for (const std::uint8_t half : {0, 0x3C, 0x40, 0x42, 0x44, 0x45}) content.insert(content.end(), {0, half});
  // Columns (0, 1), (2, 3) and (4, 5) are the rows 0 2 4 and 1 3 5.
  EXPECT_EQ(parse_npy("f", file(dictionary("<f2", "(2, 3)", "True"), content)).values,
            (std::vector<float>{0, 2, 4, 1, 3, 5}));
  EXPECT_EQ(parse_npy("f", file(dictionary("<f2", "(6,)", "True"), content)).values,
            (std::vector<float>{0, 1, 2, 3, 4, 5}));
}

TEST(Npy, RefusalsSayWhatIsWrong) {
  const auto refused = [](const Bytes& bytes) { return error_of([&] { parse_npy("f", bytes); }); };
  Bytes whole = file(dictionary("<f4", "(1,)"), {0, 0, 0x80, 0x3F});
  EXPECT_EQ(refused(whole), "");
  EXPECT_EQ(refused({}), "'f' is not a .npy file: it does not begin with \\x93NUMPY");
  EXPECT_EQ(refused({0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0}), "'f' ends inside its header");
  EXPECT_EQ(refused({0x93, 'N', 'U', 'M', 'P', 'Y', 2, 0, 1, 0, 0}), "'f' ends inside its header");
  EXPECT_EQ(refused({0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0, 9, 0, '{'}), "'f' ends inside its header: 1 of 9 bytes");
  Bytes other = whole;
  other[6] = 4;
  EXPECT_EQ(refused(other), "'f' is .npy version 4.0; allowed: 1.0, 2.0, 3.0");
  other = whole;
  other[7] = 1;
  EXPECT_EQ(refused(other), "'f' is .npy version 1.1; allowed: 1.0, 2.0, 3.0");
  other = whole;
  other.pop_back();
  EXPECT_EQ(refused(other), "'f' is truncated: 3 bytes of data, expected 4");
  other = whole;
  other.push_back(0);
  EXPECT_EQ(refused(other), "'f' has more bytes of data than the 4 of its shape");
  EXPECT_EQ(refused(file(dictionary("<f4", "()"), {})), "'f' is truncated: 0 bytes of data, expected 4");
  EXPECT_EQ(refused(file(dictionary("<f4", "(0, 5)"), {})), "");
  EXPECT_EQ(refused(file(dictionary("<f4", "(4294967296, 4294967296)"), {0, 0, 0, 0})),
            "tensor 'f' has the shape 4294967296x4294967296; allowed: up to 2^50 elements");
  EXPECT_EQ(refused(file(dictionary(">f4", "(1,)"), {})),
            "'f' holds big-endian elements '>f4'; allowed: little-endian floats ('<f2', '<f4', '<f8')");
  EXPECT_EQ(refused(file(dictionary("<i4", "(1,)"), {})),
            "'f' holds elements of type '<i4'; allowed: little-endian floats ('<f2', '<f4', '<f8')");
  EXPECT_EQ(refused(file("{'descr': [('x', '<f4')]}", {})),
            "'f' holds records; allowed: arrays of floats ('<f2', '<f4', '<f8')");
}

TEST(Npy, IsReadNoFartherThanTheHeaderSays) {
  std::size_t taken = 0;
  const auto endless = [&](const Bytes& begin) {
    return [&taken, begin](std::uint8_t* to, std::size_t count) {
      for (std::size_t i = 0; i < count; ++i, ++taken) to[i] = taken < begin.size() ? begin[taken] : 0;
      return count;
    };
  };
  const Bytes one = file(dictionary("<f4", "(1,)"), {});
  EXPECT_EQ(error_of([&] { read_npy("f", endless(one)); }), "'f' has more bytes of data than the 4 of its shape");
  EXPECT_EQ(taken, one.size() + 5);
  taken = 0;
  EXPECT_EQ(error_of([&] { read_npy("f", endless({0x93, 'N', 'U', 'M', 'P', 'Y', 2, 0, 0, 0, 1, 0})); }),
            "'f' has a header of 65536 bytes; allowed: up to 65535");
  EXPECT_EQ(taken, 12U);
  EXPECT_EQ(error_of([&] { parse_npy("f", file(dictionary("<f4", "(1000000000000,)"), {0, 0, 0, 0, 0})); }),
            "'f' is truncated: 5 bytes of data, expected 4000000000000");
}

TEST(Npy, HeadersThatDescribeNoArrayAreRefusedAtTheirPlace) {
  for (const auto& [text, what] :
       {std::pair{"", "expected { at byte 0"},
        {"{descr: 1}", "expected a string at byte 1"},
        {"{'descr", "a string does not end at byte 1"},
        {"{'descr' 1", "expected : at byte 9"},
        {"{'x': 1}", "unknown or repeated key 'x' at byte 5"},
        {"{'shape': (1,), 'shape': (1,)}", "unknown or repeated key 'shape' at byte 24"},
        {"{'shape': 1}", "expected ( at byte 10"},
        {"{'shape': (-1,)}", "expected an extent of the shape at byte 11"},
        {"{'shape': (3)}", "the shape is not a tuple at byte 13"},
        {"{'shape': (3 4)}", "expected ) at byte 13"},
        {"{'fortran_order': 0}", "expected False at byte 18"},
        {"{'shape': (3,) 'x'", "expected } at byte 15"},
        {"{'shape': (3,)}", "descr, fortran_order or shape is missing at byte 15"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,)} x", "something follows the dictionary at byte 56"}}) {
    EXPECT_EQ(error_of([&] { parse_npy("f", file(text, {})); }),
              std::string("'f': the .npy header does not describe an array: ") + what)
        << text;
  }
  const auto array =
      parse_npy("f", file("{ \"shape\" : ( 1L, 1 ),\n'fortran_order':False,'descr':'<f2' , }\n", {0, 0}));
  EXPECT_EQ(array.shape, (std::vector<index_t>{1, 1})) << "spaces, quotes and commas as Python takes them";
}

TEST(Npy, AGradientIsFiniteAndNotEmpty) {
  EXPECT_EQ(as_gradient("g", {{2}, {1, 2}}).values, (std::vector<float>{1, 2}));
  EXPECT_EQ(error_of([] { as_gradient("g", {{0}, {}}); }), "'g' holds no elements");
  EXPECT_EQ(error_of([] { as_gradient("g", {{3}, {1, NAN, INFINITY}}); }), "'g' holds 2 values that are not finite");
}

}  // namespace npy_test
}  // namespace gradcomp::data
