#include "gradcomp/method/spec.hpp"

#include <gmock/gmock.h>

#include "gradcomp/core/error.hpp"

namespace gradcomp {
namespace spec_test {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

/// The text of the Error that parsing `list` throws, or an empty one if it throws none.
std::string error_of(const std::string& list) {
  try {
    parse_methods(list);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Spec, CanonicalFormFillsInTheDefaults) {
  const MethodSpec spec = parse_method("fp16:feedback=residual:lr=0.5");
  EXPECT_EQ(spec.text, "fp16:feedback=residual:lr=0.5");
  EXPECT_EQ(spec.label, spec.text);
  EXPECT_EQ(spec.canonical,
            "fp16:rounding=nearest:feedback=residual:reducer=allreduce:strategy=job:granularity=bucket:lr=0.5");
  EXPECT_EQ(parse_method("fp16:feedback=residual:feedback.beta=0.5:feedback.gamma=1").canonical,
            "fp16:rounding=nearest:feedback=residual:feedback.beta=0.5:reducer=allreduce:strategy=job:granularity="
            "bucket:lr=0");
  EXPECT_EQ(parse_method(spec.canonical).canonical, spec.canonical);
  EXPECT_EQ(spec.compressor->info().name, "fp16");
}

TEST(Spec, OrderOfOptionsDoesNotMatter) {
  EXPECT_EQ(parse_method("fp32:lr=2:feedback=none").canonical, parse_method("fp32:feedback=none:lr=2").canonical);
}

TEST(Spec, LabelNamesTheMethodAndIsNoPartOfTheCanonicalForm) {
  const MethodSpec spec = parse_method("fp32:label=dense");
  EXPECT_EQ(spec.label, "dense");
  EXPECT_EQ(spec.canonical, parse_method("fp32").canonical);
}

TEST(Spec, LearningRateIsTheJobsUnlessGiven) {
  EXPECT_DOUBLE_EQ(parse_method("fp32").learning_rate(0.1), 0.1);
  EXPECT_DOUBLE_EQ(parse_method("fp32:lr=0.25").learning_rate(0.1), 0.25);
}

TEST(Spec, ErrorsNameTheSpecThePartAndWhatIsAllowed) {
  EXPECT_THAT(error_of("nonesuch"), AllOf(HasSubstr("'nonesuch'"), HasSubstr("allowed: "), HasSubstr("fp32")));
  EXPECT_THAT(error_of("fp32:speed=3"),
              AllOf(HasSubstr("fp32:speed=3"), HasSubstr("'speed'"), HasSubstr("feedback"), HasSubstr("lr")));
  EXPECT_THAT(error_of("fp32:feedback=magic"), AllOf(HasSubstr("feedback=magic"), HasSubstr("one of none, residual")));
  EXPECT_THAT(error_of("fp32:reducer=gather"), AllOf(HasSubstr("reducer=gather"), HasSubstr("one of allreduce")));
  EXPECT_THAT(error_of("fp32:feedback.beta=2"), AllOf(HasSubstr("feedback.beta=2"), HasSubstr("[0, 1]")));
  EXPECT_THAT(error_of("fp32:lr=fast"), AllOf(HasSubstr("lr=fast"), HasSubstr("a number in")));
  for (const auto* number : {"nan", "inf", "-1", "1e-3x", " 1", "0x1p3", ""})
    EXPECT_THAT(error_of(std::string("fp32:lr=") + number), HasSubstr("lr=")) << number;
}

TEST(MethodSpec, WhatIsUnknownIsAnsweredWithTheNearestName) {
  EXPECT_THAT(error_of("topk"), HasSubstr("unknown method 'topk'; did you mean 'top_k'? allowed: "));
  EXPECT_THAT(error_of("top_k:Ratio=0.1"), HasSubstr("unknown option 'Ratio'; did you mean 'ratio'? allowed: "));
  EXPECT_THAT(error_of("fp32:reducer=all-reduce"), HasSubstr("did you mean 'allreduce'? reducer is one of"));
  EXPECT_THAT(error_of("top_k+qsdg:bits=4"), Not(HasSubstr("did you mean"))) << "two letters of four";
  EXPECT_THAT(error_of("top_k+QSGD:bits=4"),
              HasSubstr("unknown stage 'QSGD' behind +; did you mean 'qsgd'? allowed: "));
}

TEST(Spec, FormerNamesAreAnsweredWithTodays) {
  EXPECT_EQ(error_of("none"), "method 'none' is now called 'no_exchange'");
  EXPECT_EQ(error_of("qsgd:bucket=64"), "method 'qsgd:bucket=64': option 'bucket' is now called 'group'");
  for (const char* name : {"global_qsgd", "linear_dithering", "max_min", "natural_dithering", "rotated"}) {
    const std::string text = std::string(name) + ":bucket=1024";
    EXPECT_THAT(error_of(text), testing::HasSubstr("is now called 'group'")) << name;
  }
}

TEST(Spec, MalformedTextIsRefused) {
  EXPECT_THAT(error_of(""), HasSubstr("empty"));
  EXPECT_THAT(error_of(":lr=1"), HasSubstr("name is missing"));
  EXPECT_THAT(error_of("fp32:lr"), HasSubstr("'lr' is not key=value"));
  EXPECT_THAT(error_of("fp32:=1"), HasSubstr("'=1' is not key=value"));
  EXPECT_THAT(error_of("fp32:lr=1:lr=2"), HasSubstr("option 'lr' is given twice"));
  EXPECT_THAT(error_of("fp32:label="), HasSubstr("label is empty"));
  EXPECT_THAT(error_of("fp32,,fp16"), HasSubstr("name is missing"));
}

TEST(Spec, TwiceTheSameMethodNeedsALabel) {
  EXPECT_THAT(error_of("fp32,fp16,fp32"), HasSubstr("are the same"));
  const auto specs = parse_methods("fp32,fp32:label=again");
  ASSERT_EQ(specs.size(), 2u);
  EXPECT_EQ(specs[1].label, "again");
}

}  // namespace spec_test
}  // namespace gradcomp
