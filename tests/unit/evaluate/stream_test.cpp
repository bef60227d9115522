// Where gradients come from: files in turn, fresh draws, a training; and what is refused.
#include "gradcomp/evaluate/stream.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "copies.hpp"
#include "error_of.hpp"
#include "gradcomp/data/formats/npy.hpp"
#include "gradcomp/data/generated/synthetic.hpp"
#include "gradcomp/evaluate/gradient_file.hpp"
#include "unit/data/temp_dir.hpp"

namespace gradcomp::evaluate {
namespace stream_test {

using test::error_of;
using test::to_host;
using ::testing::HasSubstr;

TEST(FileStream, CyclesAndKeepsTheShape) {
  const gradcomp::test::TempDir dir;
  const std::string a = dir.path() + "/a.npy", b = dir.path() + "/b.npy";
  data::write_npy(a, std::vector<float>{1, 2, 3, 4, 5, 6}, {2, 3});
  data::write_npy(b, std::vector<float>{7, 8, 9, 10, 11, 12});
  const auto stream = make_file_stream({a, b});
  EXPECT_EQ(stream->name(), "a+b");
  EXPECT_EQ(stream->layout().segments[0].shape, (std::vector<index_t>{2, 3}));
  const Exec exec;
  for (int turn = 0; turn < 2; ++turn) {
    EXPECT_EQ(to_host(stream->next(exec)), (std::vector<float>{1, 2, 3, 4, 5, 6}));
    EXPECT_EQ(to_host(stream->next(exec)), (std::vector<float>{7, 8, 9, 10, 11, 12}));
  }
}

TEST(FileStream, Refusals) {
  const gradcomp::test::TempDir dir;
  const std::string a = dir.path() + "/a.npy", b = dir.path() + "/b.npy", c = dir.path() + "/c.npy";
  data::write_npy(a, std::vector<float>{1, 2});
  data::write_npy(b, std::vector<float>{1, 2, 3});
  EXPECT_THAT(error_of([&] { make_file_stream({a, b}); }), HasSubstr("holds 3 elements"));
  data::write_npy(c, std::vector<float>{1, NAN});
  EXPECT_THAT(error_of([&] { make_file_stream({c}); }), HasSubstr("1 values that are not finite"));
  data::write_npy(c, std::vector<float>{});
  EXPECT_THAT(error_of([&] { make_file_stream({c}); }), HasSubstr("holds no elements"));
  EXPECT_THAT(error_of([&] { make_file_stream({dir.path() + "/none.npy"}); }), HasSubstr("there is no such file"));
}

TEST(FileStream, TakesTheTensorsOfALayout) {
  const gradcomp::test::TempDir dir;
  const std::string flat = dir.path() + "/g.npy", shapes = dir.path() + "/shapes.txt";
  data::write_npy(flat, std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8, 9});
  const auto shape_file = [&](const std::string& text) { std::ofstream(shapes) << text; };
  shape_file("# a small network\nw 2x3\n\nb 2  # bias\nscale\n");
  const auto stream = make_file_stream({flat}, read_layout(shapes));
  const auto& segments = stream->layout().segments;
  ASSERT_EQ(segments.size(), 3U);
  EXPECT_EQ(segments[0].shape, (std::vector<index_t>{2, 3}));
  EXPECT_EQ(segments[1].name, "b");
  EXPECT_EQ(segments[2].shape, std::vector<index_t>{});
  EXPECT_EQ(to_host(stream->next(Exec())), (std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8, 9}));
  for (const auto& [text, said] : {std::pair{"w 2x3\n", "holds 9 elements, but the tensors of --layout have 6"},
                                   {"w 2x\n", "line 1: '2x' is not a shape"},
                                   {"a 1\nw 2,3\n", "line 2: '2,3' is not a shape"},
                                   {"w 0\n", "'0' is not a shape"},
                                   {"w 3x3 float\n", "'float' follows the shape"},
                                   {"w 3x3 outputs-first 1\n", "'1' follows the shape"},
                                   {"h 4294967296x4294967296\n", "line 1: tensor 'h' has the shape"},
                                   {"a 1000000000000000\nb 1000000000000000\n", "line 2: the tensors up to 'b'"},
                                   {"a 9223372036854775807\na 9223372036854775807\nc 3\n", "line 1: tensor 'a'"},
                                   {"a 1\n\xEF\xBB\xBFw 2\n", "line 2: the name begins with a byte order mark"},
                                   {"# nothing\n", "holds no tensor"}}) {
    shape_file(text);
    EXPECT_THAT(error_of([&] { make_file_stream({flat}, read_layout(shapes)); }), HasSubstr(said)) << text;
  }
  EXPECT_THAT(error_of([] { read_layout("vgg99"); }), HasSubstr("neither a file nor a model"));
  EXPECT_THAT(error_of([] { read_layout(std::string(300, 'n')); }), HasSubstr("File name too long"));
  const std::string written = Layout{}.add("embedding", {9, 4}, true).add("scale", {}).add("w", {4, 2}).text();
  shape_file(written);
  EXPECT_EQ(read_layout(shapes).text(), written);
  EXPECT_EQ(read_layout("resnet20").count(), 269722);
}

TEST(FileStream, AFolderIsAGradientOfNamedTensors) {
  const gradcomp::test::TempDir dir;
  const std::string folder = dir.path() + "/step10";
  std::filesystem::create_directory(folder);
  data::write_npy(folder + "/b.npy", std::vector<float>{7, 8});
  data::write_npy(folder + "/a.npy", std::vector<float>{1, 2, 3, 4, 5, 6}, {2, 3});
  const auto stream = make_file_stream({folder});
  EXPECT_EQ(stream->name(), "step10");
  ASSERT_EQ(stream->layout().segments.size(), 2U);
  EXPECT_EQ(stream->layout().segments[0].name, "a");
  EXPECT_EQ(stream->layout().segments[0].shape, (std::vector<index_t>{2, 3}));
  EXPECT_EQ(to_host(stream->next(Exec())), (std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8}));
  EXPECT_THAT(error_of([&] { make_file_stream({folder}, read_layout("resnet20")); }),
              HasSubstr("holds several tensors"));
  std::filesystem::create_directory(dir.path() + "/empty");
  EXPECT_THAT(error_of([&] { make_file_stream({dir.path() + "/empty"}); }), HasSubstr("holds no .npy file"));
}

TEST(SyntheticStream, DrawsAreFreshAndReproducible) {
  const Exec exec;
  const auto first = make_synthetic_stream("gamma", 1000, "", 5), second = make_synthetic_stream("gamma", 1000, "", 5);
  const auto a = to_host(first->next(exec)), b = to_host(first->next(exec));
  EXPECT_NE(a, b);
  EXPECT_EQ(to_host(second->next(exec)), a);
  EXPECT_EQ(to_host(second->next(exec)), b);
  std::vector<float> drawn(1000);
  data::fill(data::Distribution::parse("gamma"), 5, 1, drawn);
  EXPECT_EQ(b, drawn) << "the second gradient is that of step 1";
  EXPECT_THAT(error_of([&] { make_synthetic_stream("gamma", 0, "", 5); }), HasSubstr("--size 0"));
}

TEST(SyntheticStream, TakesTheTensorsOfAModel) {
  const Exec exec;
  const auto stream = make_synthetic_stream("laplace", 1, "resnet20", 5);
  EXPECT_EQ(stream->name(), "laplace_resnet20");
  EXPECT_EQ(stream->layout().count(), 269722);
  EXPECT_EQ(to_host(stream->next(exec)).size(), 269722u);
  EXPECT_THAT(error_of([] { make_synthetic_stream("laplace", 1, "vgg99", 5); }), HasSubstr("vgg99"));
}

TEST(TrainingStream, GradientsFollowTheParameters) {
  TrainingOptions options;
  options.model = "resnet20";
  options.dataset = "shapetex10:train=32:test=16";
  options.steps = 3;
  options.batch = 4;
  const Exec exec;
  const auto stream = make_training_stream(options), again = make_training_stream(options);
  EXPECT_EQ(stream->name(), "resnet20");
  EXPECT_GT(stream->layout().segments.size(), 20u);
  const auto a = to_host(stream->next(exec)), b = to_host(stream->next(exec));
  EXPECT_NE(a, b);
  EXPECT_EQ(to_host(again->next(exec)), a);
  EXPECT_EQ(to_host(again->next(exec)), b);
  options.model = "no_such_model";
  EXPECT_THAT(error_of([&] { make_training_stream(options); }), HasSubstr("no_such_model"));
}

}  // namespace stream_test
}  // namespace gradcomp::evaluate
