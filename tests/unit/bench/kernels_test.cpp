// Every kernel case: right answers pass its check, for sizes with and without whole blocks, and wrong answers do not.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "gradcomp/exchange/one_rank.hpp"
#include "gradient.hpp"
#include "kernel.hpp"

namespace gradcomp::bench {
namespace kernels_test {

const NamedKernel& find(const std::vector<NamedKernel>& all, const std::string& name) {
  return *std::find_if(all.begin(), all.end(), [&](const auto& kernel) { return kernel.name == name; });
}

KernelInput input_of(const Vector<float>& gradient) {
  return {Exec(), Span<const float>(gradient.data(), gradient.size()),
          layer_like(static_cast<index_t>(gradient.size())), 1};
}

TEST(Kernels, EveryOneIsRightAtSmallAndOddSizes) {
  for (const index_t count : {1, 31, 1000, 1024, 4097, 20011}) {
    const auto gradient = laplace_gradient(Exec(), count, 1);
    for (const auto& kernel : all_kernels()) {
      if (count < kernel.least) continue;
      EXPECT_NO_THROW(run_checked(kernel, input_of(gradient))) << kernel.name << " of " << count;
    }
  }
}

TEST(Kernels, ZerosAndTiesAreRight) {
  for (const float value : {0.0f, -0.0f, -2.5f}) {
    const Vector<float> gradient("gradient", 4097);
    Kokkos::deep_copy(gradient, value);
    for (const auto& kernel : all_kernels()) EXPECT_NO_THROW(run_checked(kernel, input_of(gradient))) << kernel.name;
  }
}

TEST(Kernels, NamesDifferAndPassesAreDeclared) {
  std::set<std::string> names;
  const auto gradient = laplace_gradient(Exec(), 4097, 1);
  for (const auto& kernel : all_kernels()) {
    EXPECT_TRUE(names.insert(kernel.name).second) << kernel.name;
    EXPECT_GT(kernel.make(input_of(gradient)).passes, 0) << kernel.name;
    EXPECT_GT(kernel.bytes_per_element, 4) << kernel.name;
  }
}

// The gradient changes between the call and its check, which then expects other answers.
TEST(Kernels, EveryCheckNoticesAWrongAnswer) {
  // These cases compare with their own copies of the gradient, or with the array that they decode.
  const std::set<std::string> of_copies = {"decode_codes_2", "decode_codes_4", "decode_codes_8",
                                           "huffman_encode", "huffman_decode", "sketch_estimates"};
  const auto all = all_kernels();
  for (const auto& name : of_copies) EXPECT_EQ(find(all, name).name, name);
  for (const auto& kernel : all) {
    const auto gradient = laplace_gradient(Exec(), 4097, 1);
    const Kernel made = kernel.make(input_of(gradient));
    if (made.before) made.before();
    made.work();
    Kokkos::fence();
    made.check();
    const auto other = laplace_gradient(Exec(), 4097, 2);
    Kokkos::deep_copy(gradient, other);
    if (of_copies.contains(kernel.name)) {
      EXPECT_NO_THROW(made.check()) << kernel.name;
    } else {
      EXPECT_THROW(made.check(), Error) << kernel.name;
    }
  }
}

// If the work has not run, there is no right answer.
TEST(Kernels, ChecksOfDecodersNoticeThatNothingWasDecoded) {
  const auto all = all_kernels();
  const auto gradient = laplace_gradient(Exec(), 4097, 1);
  for (const char* name : {"decode_codes_2", "decode_codes_4", "decode_codes_8", "huffman_decode", "sketch_estimates"})
    EXPECT_THROW(find(all, name).make(input_of(gradient)).check(), Error) << name;
}

}  // namespace kernels_test
}  // namespace gradcomp::bench
