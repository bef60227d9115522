// Specs with several parts: METHOD+CODER+huffman.
#include <gmock/gmock.h>

#include "gradcomp/core/error.hpp"
#include "gradcomp/exchange/one_rank.hpp"
#include "gradcomp/method/spec.hpp"

namespace gradcomp {
namespace composition_test {

using testing::AllOf;
using testing::HasSubstr;

std::string error_of(const std::string& spec) {
  try {
    parse_method(spec);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Composition, CanonicalFormHasTheCommonOptionsInTheFirstPart) {
  const MethodSpec spec = parse_method("top_k:lr=2:ratio=0.02+qsgd:bits=2+huffman");
  EXPECT_EQ(spec.canonical,
            "top_k:ratio=0.02:warmup=none:index=u32:values=f32:feedback=residual:reducer=allgather:strategy=job:"
            "granularity=bucket:lr=2+qsgd:bits=2:levels=0:group=512:norm=l2:coding=fixed:scale=auto+huffman");
  EXPECT_EQ(spec.label, "top_k:lr=2:ratio=0.02+qsgd:bits=2+huffman");
  EXPECT_EQ(spec.compressor->info().name, "top_k+qsgd+huffman");
  EXPECT_EQ(parse_method(spec.canonical).canonical, spec.canonical);
  EXPECT_EQ(parse_method("qsgd:label=small+huffman").label, "small");
  EXPECT_EQ(parse_method("fp8_e4m3+huffman").canonical,
            "fp8_e4m3:rounding=nearest:feedback=residual:reducer=allgather:strategy=job:granularity=tensor:lr=0+"
            "huffman");
}

TEST(Composition, DefaultsAreThoseOfTheFirstPart) {
  const MethodSpec spec = parse_method("top_k:feedback=momentum_correction+ef_sign");
  EXPECT_EQ(spec.common.text("feedback"), "momentum_correction");
  EXPECT_EQ(spec.common.text("granularity"), "bucket");
  EXPECT_EQ(spec.compressor->info().feedback, "residual");
}

TEST(Composition, HashesOfHeadersCoverEveryPart) {
  const auto hash = [](const std::string& text) { return parse_method(text).compressor->header(9, 9).spec; };
  EXPECT_EQ(hash("top_k+qsgd"), hash("top_k:label=x+qsgd:bits=4"));
  EXPECT_NE(hash("top_k+qsgd"), hash("top_k+qsgd:bits=2"));
  EXPECT_NE(hash("top_k+qsgd"), hash("top_k:ratio=0.02+qsgd"));
  EXPECT_NE(hash("top_k+qsgd+huffman"), hash("top_k+qsgd:norm=max+huffman"));
  EXPECT_NE(hash("top_k+qsgd+huffman"), hash("top_k+qsgd"));
}

TEST(Composition, ErrorsSayWhatIsAllowed) {
  EXPECT_THAT(error_of("top_k+magic"), AllOf(HasSubstr("top_k+magic"), HasSubstr("unknown stage 'magic'"),
                                             HasSubstr("qsgd"), HasSubstr("huffman")));
  EXPECT_THAT(error_of("top_k+huffman+qsgd"), AllOf(HasSubstr("nothing can follow huffman"), HasSubstr("allowed")));
  EXPECT_THAT(error_of("top_k+huffman+huffman"), HasSubstr("nothing can follow huffman"));
  EXPECT_THAT(error_of("top_k+qsgd+natural"), AllOf(HasSubstr("second value coder"), HasSubstr("allowed")));
  EXPECT_THAT(error_of("top_k+qsgd+huffman:bits=3"), HasSubstr("huffman takes no options"));
  EXPECT_THAT(error_of("top_k+qsgd:feedback=none"), HasSubstr("feedback belongs to the first part"));
  EXPECT_THAT(error_of("top_k+qsgd:label=a"), HasSubstr("label belongs to the first part"));
  EXPECT_THAT(error_of("top_k+qsgd:lr=1"), HasSubstr("lr belongs to the first part"));
  EXPECT_THAT(error_of("top_k+qsgd:bits=3"), AllOf(HasSubstr("top_k+qsgd:bits=3"), HasSubstr("one of 2, 4, 8")));
  EXPECT_THAT(error_of("top_k+qsgd:bits=2:bits=4"), HasSubstr("option 'bits' is given twice"));
  EXPECT_THAT(error_of("qsgd+natural"),
              AllOf(HasSubstr("qsgd offers no list"), HasSubstr("top_k"), HasSubstr("sidco")));
  EXPECT_THAT(error_of("random_k+qsgd"), HasSubstr("random_k offers no list"));
  EXPECT_THAT(error_of("top_k+powersgd"), AllOf(HasSubstr("powersgd cannot code the values"), HasSubstr("qsgd")));
  EXPECT_THAT(error_of("top_k:values=int8+qsgd"), HasSubstr("allowed: values=f32"));
  EXPECT_THAT(error_of("fp32+huffman"), AllOf(HasSubstr("fp32+huffman"), HasSubstr("one bytes round")));
  EXPECT_THAT(error_of("top_k:reducer=gtop_k+qsgd"), HasSubstr("one of allgather"));
  EXPECT_THAT(error_of("+huffman"), HasSubstr("name is missing"));
  EXPECT_THAT(error_of("qsgd+"), HasSubstr("nothing follows the last +"));
  EXPECT_THAT(error_of("top_k++huffman"), HasSubstr("unknown stage ''"));
}

TEST(Composition, OptionsAreSetInTheFirstPart) {
  EXPECT_EQ(with_option("top_k+qsgd", "lr", "1"), "top_k:lr=1+qsgd");
  EXPECT_EQ(with_option("top_k:lr=2:ratio=0.1+qsgd:bits=2", "lr", "1"), "top_k:lr=1:ratio=0.1+qsgd:bits=2");
  EXPECT_EQ(with_option("top_k:lr=2+qsgd:bits=2", "lr", "1"), "top_k:lr=1+qsgd:bits=2");
  EXPECT_EQ(with_option("top_k:ratio=0.1+qsgd:bits=2", "bits", "1"), "top_k:ratio=0.1:bits=1+qsgd:bits=2");
  EXPECT_EQ(with_option("top_k", "lr", "1"), "top_k:lr=1");
}

}  // namespace composition_test
}  // namespace gradcomp
