// The command line, the inputs and the cases that follow from them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <set>

#include "affinity.hpp"
#include "case.hpp"
#include "gradcomp/core/error.hpp"
#include "gradcomp/data/formats/npy.hpp"

namespace gradcomp::bench {
namespace options_test {

using testing::ElementsAre;
using testing::HasSubstr;

BenchOptions parsed(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "gradcomp-bench");
  std::vector<char*> argv;
  for (auto& argument : arguments) argv.push_back(argument.data());
  BenchOptions options;
  EXPECT_FALSE(parse(static_cast<int>(argv.size()), argv.data(), options).has_value());
  return options;
}

void expect_refused(const std::vector<std::string>& arguments, const std::string& part) {
  try {
    parsed(arguments);
    ADD_FAILURE() << testing::PrintToString(arguments) << " was accepted";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr(part));
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos) << error.what();
  }
}

TEST(Options, SizesHaveTwoNamesAndDefaults) {
  EXPECT_THAT(parsed({}).sizes, ElementsAre(65536, 1048576, 16777216));
  EXPECT_THAT(parsed({"--quick"}).sizes, ElementsAre(65536, 1048576));
  EXPECT_THAT(parsed({"--size", "7,8"}).sizes, ElementsAre(7, 8));
  EXPECT_THAT(parsed({"--sizes", "7"}).sizes, ElementsAre(7));
  EXPECT_THAT(parsed({"--data", "a.npy,b.npy"}).sizes, ElementsAre());
  EXPECT_THAT(parsed({"--data", "a.npy,laplace", "--size", "3"}).sizes, ElementsAre(3));
}

TEST(Options, FullSizesArePowersOfFourAndRealOnes) {
  const auto sizes = parsed({"--full"}).sizes;
  for (const index_t size : {index_t{1} << 10, index_t{1} << 26, index_t{1} << 27, index_t{270'000},
                             index_t{25'500'000}, index_t{2359296}, index_t{64}})
    EXPECT_EQ(std::count(sizes.begin(), sizes.end(), size), 1) << size;
  EXPECT_TRUE(std::is_sorted(sizes.begin(), sizes.end()));
  EXPECT_EQ(std::count(sizes.begin(), sizes.end(), index_t{1} << 11), 0);
}

TEST(Options, WhatDoesNotGoTogetherIsRefusedWithOneLine) {
  expect_refused({"--full", "--quick"}, "excludes");
  expect_refused({"--full", "--size", "5"}, "excludes");
  expect_refused({"--machine", "--methods", "top_k"}, "excludes");
  expect_refused({"--data", "a.npy", "--sizes", "5"}, "add laplace");
  expect_refused({"--data", "a.npy", "--full"}, "add laplace");
  expect_refused({"--residual", "maybe"}, "maybe");
  expect_refused({"--cache", "hot"}, "hot");
  expect_refused({"--threads", "0"}, "0");
  expect_refused({"--size", "0"}, "0");
  expect_refused({"--memory", "-1"}, "-1");
}

float last_of(const Span<const float>& gradient) {
  float last = 0;
  Kokkos::deep_copy(last, Kokkos::subview(gradient, gradient.size() - 1));
  return last;
}

TEST(Inputs, SyntheticStreamsDriftAndComeBack) {
  const Exec exec;
  constexpr index_t count = 20000;
  const auto host = [](const Span<const float>& span) {
    const Kokkos::View<float*, Kokkos::HostSpace> copy("copy", span.size());
    Kokkos::deep_copy(copy, span);
    return copy;
  };
  const auto norm = [](const auto& values) {
    double squares = 0;
    for (std::size_t i = 0; i < values.size(); ++i) squares += double(values(i)) * double(values(i));
    return std::sqrt(squares);
  };
  GradientStream stream(exec, count, 3, 8);
  const auto x = host(laplace_gradient(exec, count, 3)), y = host(laplace_gradient(exec, count, ~std::uint64_t{3}));
  const auto first = host(stream.rewind(exec));
  for (std::size_t i = 0; i < first.size(); ++i) ASSERT_EQ(first(i), x(i));
  const double expected[] = {1 + std::sqrt(0.5) / 4, 1.25, 1 + std::sqrt(0.5) / 4, 1, 1 - std::sqrt(0.5) / 4, 0.75};
  for (const double scale : expected) EXPECT_NEAR(norm(host(stream.next(exec))) / norm(first), scale, 0.04);
  const auto eighth = host(stream.next(exec));  // w = 7 pi / 4
  const double half = std::sqrt(0.5), scale = 1 - half / 4;
  for (std::size_t i = 0; i < eighth.size(); ++i)
    ASSERT_NEAR(eighth(i), scale * half * (double(x(i)) - double(y(i))), 1e-8) << i;
  stream.next(exec);
  const auto again = host(stream.rewind(exec));
  for (std::size_t i = 0; i < again.size(); ++i) ASSERT_EQ(again(i), x(i));
  GradientStream still(exec, count, 3, 1);
  EXPECT_EQ(last_of(still.next(exec)), x(count - 1));
}

TEST(Inputs, ComeFromSizesAndFiles) {
  const std::string path = testing::TempDir() + "bench_input.npy", broken = testing::TempDir() + "bench_broken.npy";
  const std::vector<float> values = {1, -2, 3, 0, 5, 6};
  data::write_npy(path, values, {3, 2});
  BenchOptions options;
  options.sizes = {5};
  options.data = {"laplace", path};
  const auto inputs = make_inputs(options);
  ASSERT_EQ(inputs.size(), 2u);
  EXPECT_EQ(inputs[0].name(), "5");
  EXPECT_EQ(inputs[1].name(), "6/bench_input");
  EXPECT_THAT(inputs[1].layout.segments.at(0).shape, ElementsAre(3, 2));
  GradientStream alone = make_stream(Exec(), inputs[1], 1, 8);
  EXPECT_EQ(alone.length(), 1);
  EXPECT_EQ(last_of(alone.next(Exec())), 6);

  const std::string other = testing::TempDir() + "bench_other.npy";
  data::write_npy(other, std::vector<float>{1, -2, 3, 0, 5, 7}, {3, 2});
  options.data = {path + "+" + other};
  GradientStream both = make_stream(Exec(), make_inputs(options).back(), 1, 8);
  EXPECT_EQ(both.length(), 2);
  EXPECT_EQ(last_of(both.rewind(Exec())), 6);
  EXPECT_EQ(last_of(both.next(Exec())), 7);
  EXPECT_EQ(last_of(both.next(Exec())), 6);
  EXPECT_EQ(make_stream(Exec(), make_inputs(options).back(), 1, 1).length(), 1);

  data::write_npy(other, std::vector<float>{1, 2});  // another shape
  options.data = {path + "+" + other};
  EXPECT_THROW(make_inputs(options), Error);
  data::write_npy(broken, std::vector<float>{1, std::numeric_limits<float>::infinity()});
  for (const std::vector<std::string>& bad : {std::vector<std::string>{path, path},
                                              {broken},
                                              {"gauss"},
                                              {testing::TempDir() + "missing.npy"},
                                              {path + "+" + broken}}) {
    options.data = bad;
    EXPECT_THROW(make_inputs(options), Error) << bad.front();
  }
  for (const auto& file : {path, broken, other}) std::filesystem::remove(file);
}

Session session_of(const std::vector<std::string>& arguments) {
  Session session;
  session.options = parsed(arguments);
  session.inputs = make_inputs(session.options);
  session.memory_bytes = session.options.memory_gb > 0 ? 1e9 * session.options.memory_gb : 1e12;
  return session;
}

std::set<std::string> names_of(const Session& session) {
  std::set<std::string> names;
  for (const auto& item : session.cases) names.insert(item.name);
  EXPECT_EQ(names.size(), session.cases.size()) << "names are unique";
  return names;
}

TEST(Cases, QuickHasEveryMethodPhaseKernelAndLimit) {
  Session session = session_of({"--quick"});
  add_machine_cases(session);
  add_kernel_cases(session);
  add_compressor_cases(session);
  const auto names = names_of(session);
  for (const char* name : {"read/65536", "copy/1048576", "triad/65536", "sgemm", "kernel/top_k/65536",
                           "kernel/first_pass/1048576", "compress/sidco/65536", "pair/powersgd/1048576"})
    EXPECT_TRUE(names.contains(name)) << name;
  EXPECT_EQ(session.samples(1 << 20), 5);
  EXPECT_THAT(session.left_out, ElementsAre(testing::StartsWith("atomo of 65536, 1048576: it takes seconds a call")));
}

/// The gradients that the next calls of a case see, by their last values.
std::vector<float> walk(const std::vector<std::string>& arguments, int calls) {
  Session session = session_of(arguments);
  const auto gradient = session.gradient(session.inputs.at(0));
  std::vector<float> seen{last_of(gradient)};
  for (int call = 0; call < calls; ++call) {
    session.next_gradient();
    seen.push_back(last_of(gradient));
  }
  return seen;
}

TEST(Session, CallsUseEightGradientsInTurnUnlessOneIsAskedFor) {
  EXPECT_EQ(parsed({}).stream, 8);
  EXPECT_EQ(parsed({"--stream", "1"}).stream, 1);
  const auto eight = walk({"--size", "1024"}, 9);
  EXPECT_EQ(std::set<float>(eight.begin(), eight.begin() + 8).size(), 8U);
  EXPECT_EQ(eight[8], eight[0]);
  EXPECT_EQ(eight[9], eight[1]);
  const auto one = walk({"--size", "1024", "--stream", "1"}, 9);
  EXPECT_EQ(std::set<float>(one.begin(), one.end()).size(), 1U);
}

TEST(Cases, SlowMethodsRunOnShortInputsAndWhenNamed) {
  Session session = session_of({"--size", "16384,16385"});
  add_compressor_cases(session);
  EXPECT_TRUE(names_of(session).contains("pair/atomo/16384"));
  EXPECT_FALSE(names_of(session).contains("pair/atomo/16385"));
  Session named = session_of({"--quick", "--methods", "atomo"});
  add_compressor_cases(named);
  EXPECT_TRUE(names_of(named).contains("pair/atomo/1048576"));
}

TEST(Cases, RefusedFeedbackIsLeftOutWithALine) {
  Session session = session_of({"--size", "1024", "--methods", "top_k,signum", "--residual", "on"});
  add_compressor_cases(session);
  const auto names = names_of(session);
  EXPECT_TRUE(names.contains("compress/top_k:feedback=residual/1024"));
  ASSERT_EQ(session.left_out.size(), 1u);
  EXPECT_THAT(session.left_out[0], HasSubstr("signum"));
  EXPECT_EQ(names.size(), 3u);

  Session off = session_of({"--size", "1024", "--methods", "top_k:feedback=residual", "--residual", "off"});
  add_compressor_cases(off);
  EXPECT_TRUE(names_of(off).contains("pair/top_k:feedback=none/1024"));
}

TEST(Cases, WhatDoesNotFitIsOneLineForEachSize) {
  Session session = session_of({"--size", "1024,1000000000", "--methods", "top_k,fp32", "--memory", "1"});
  add_machine_cases(session);
  add_kernel_cases(session);
  add_compressor_cases(session);
  session.explain_misfits();
  ASSERT_EQ(session.left_out.size(), 1u);
  EXPECT_THAT(session.left_out[0], HasSubstr("1000000000 elements: no memory (1 GB"));
  EXPECT_THAT(session.left_out[0], HasSubstr("top_k"));
  for (const auto& name : names_of(session)) EXPECT_EQ(name.find("1000000000"), std::string::npos) << name;
}

TEST(Cases, KernelsThatTakeNoShortInputAreLeftOutWithALine) {
  Session session = session_of({"--size", "64,128,4096"});
  add_kernel_cases(session);
  ASSERT_EQ(session.left_out.size(), 2u);
  EXPECT_EQ(session.left_out[0], "kernel/huffman_encode of 64, 128: it takes at least 1024 elements");
  EXPECT_TRUE(names_of(session).contains("kernel/huffman_encode/4096"));
}

TEST(Affinity, NamesAtLeastOneProcessor) {
  const auto places = affinity();
  EXPECT_GE(places.at("cpus").size(), 1u);
  EXPECT_TRUE(places.contains("omp_proc_bind") && places.contains("omp_places"));
}

}  // namespace options_test
}  // namespace gradcomp::bench
