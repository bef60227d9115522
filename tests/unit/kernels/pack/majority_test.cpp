// Compares the majority of bit strings with counting, bit by bit.
#include "gradcomp/kernels/pack/majority.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace gradcomp {
namespace majority_test {

TEST(Majority, IsMoreThanHalfOfAllRanks) {
  std::mt19937 random(5);
  for (const int ranks : {1, 2, 3, 4, 5, 6, 7, 8, 15, 16, 17, 64, 100, 257}) {
    for (const index_t count : {0, 1, 33}) {
      const index_t stride = count + 3;
      Vector<std::uint32_t> words("words", static_cast<std::size_t>(ranks * stride));
      Vector<std::uint32_t> out("out", static_cast<std::size_t>(count + 1));
      const auto host = Kokkos::create_mirror_view(words);
      for (std::size_t i = 0; i < host.size(); ++i) host(i) = static_cast<std::uint32_t>(random());
      Kokkos::deep_copy(words, host);
      Kokkos::deep_copy(out, 0xabcdef01u);
      kernels::majority_words(Exec(), words.data(), stride, ranks, count, 0xff00ff00u, out.data());
      const auto result = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), out);
      for (index_t w = 0; w < count; ++w) {
        for (int bit = 0; bit < 32; ++bit) {
          int set = 0;
          for (int r = 0; r < ranks; ++r) set += (host(static_cast<std::size_t>(r * stride + w)) >> bit) & 1u;
          const bool tied = 2 * set == ranks && bit / 8 % 2 == 1;
          ASSERT_EQ((result(static_cast<std::size_t>(w)) >> bit) & 1u, tied || 2 * set > ranks ? 1u : 0u)
              << ranks << " ranks, " << set << " set";
        }
      }
      EXPECT_EQ(result(static_cast<std::size_t>(count)), 0xabcdef01u) << "it wrote behind the last word";
    }
  }
}

// Every possible count, including ties.
TEST(Majority, OfEveryCount) {
  for (int ranks = 1; ranks <= 40; ++ranks) {
    for (int set = 0; set <= ranks; ++set) {
      Vector<std::uint32_t> words("words", static_cast<std::size_t>(ranks)), out("out", 1);
      const auto host = Kokkos::create_mirror_view(words);
      for (int r = 0; r < ranks; ++r) host(static_cast<std::size_t>(r)) = r < set ? 0x80000001u : 0u;
      Kokkos::deep_copy(words, host);
      kernels::majority_words(Exec(), words.data(), 1, ranks, 1, 0u, out.data());
      const auto result = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), out);
      ASSERT_EQ(result(0), 2 * set > ranks ? 0x80000001u : 0u) << set << " of " << ranks;
    }
  }
}

}  // namespace majority_test
}  // namespace gradcomp
