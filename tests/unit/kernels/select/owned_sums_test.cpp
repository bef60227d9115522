// Cutting lists for owners, and the common threshold, against plain references.
#include "gradcomp/kernels/select/owned_sums.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <random>

#include "copies.hpp"

namespace gradcomp::kernels {
namespace owned_sums_test {

using test::to_device;
using test::to_host;
using testing::ElementsAre;

TEST(OwnedSums, EqualPartsOfAList) {
  const auto indices = to_device<std::uint32_t>({1, 2, 3, 50, 60, 4000000000u});
  const Vector<index_t> cuts("cuts", 2);
  equal_parts(Exec(), {indices.data(), nullptr, 6}, 4000000001, 3, cuts);
  EXPECT_THAT(to_host(cuts), ElementsAre(3, 60));
  equal_parts(Exec(), {indices.data(), nullptr, 1}, 100, 3, cuts);
  EXPECT_THAT(to_host(cuts), ElementsAre(1, 1));
  equal_parts(Exec(), {}, 90, 3, cuts);
  EXPECT_THAT(to_host(cuts), ElementsAre(30, 60));
  equal_parts(Exec(), {}, 90, 1, Vector<index_t>("none", 0));
}

TEST(OwnedSums, EntriesBelowBounds) {
  const auto indices = to_device<std::uint32_t>({1, 2, 3, 50, 60, 4000000000u});
  const auto bounds = to_device<index_t>({0, 2, 51, 51, 4000000001});
  const Vector<index_t> starts("starts", 5);
  entries_below(Exec(), {indices.data(), nullptr, 6}, bounds, starts);
  EXPECT_THAT(to_host(starts), ElementsAre(0, 1, 4, 4, 6));
  entries_below(Exec(), {}, bounds, starts);
  EXPECT_THAT(to_host(starts), ElementsAre(0, 0, 0, 0, 0));
}

std::int32_t bin_of(float x) {
  std::int32_t bits = 0;
  std::memcpy(&bits, &x, sizeof bits);
  return (bits & 0x7fffffff) >> 19;
}

/// Values of three owners with ties, zeros, denormals and both signs.
std::vector<float> values(std::mt19937& random, std::size_t count, bool few) {
  std::vector<float> x(count);
  for (auto& v : x) {
    const double u = static_cast<double>(random() % 100000) / 100000;
    v = static_cast<float>((random() % 2 == 0 ? 1 : -1) * (few ? std::floor(3 * u) : std::pow(10.0, -50 * u)));
  }
  return x;
}

TEST(OwnedSums, TheCutKeepsTheLargestOfAllOwners) {
  const Exec exec;
  std::mt19937 random(5);
  for (const std::size_t count : {1u, 33u, 700u, 20000u}) {
    for (const bool few : {false, true}) {
      std::vector<std::vector<float>> owners;
      std::vector<std::int32_t> all(magnitude_bins, 0);
      std::vector<std::vector<std::int32_t>> bins;
      for (int r = 0; r < 3; ++r) {
        owners.push_back(values(random, r == 1 ? 0 : count, few));
        const Vector<std::int32_t> found("bins", magnitude_bins);
        magnitude_histogram(exec, to_device(owners.back()), found);
        bins.push_back(to_host(found));
        std::vector<std::int32_t> expected(magnitude_bins, 0);
        for (const float v : owners.back()) expected[static_cast<std::size_t>(bin_of(v))] += v != 0 ? 1 : 0;
        EXPECT_EQ(bins.back(), expected);
        for (std::size_t b = 0; b < all.size(); ++b) all[b] += expected[b];
      }
      index_t nonzeros = 0;
      for (const auto& owner : owners)
        nonzeros += std::count_if(owner.begin(), owner.end(), [](float v) { return v != 0; });
      for (const index_t most : {index_t{0}, index_t{1}, nonzeros / 3, nonzeros, nonzeros + 5}) {
        index_t total = 0;
        for (std::size_t r = 0; r < 3; ++r) {
          const MagnitudeCut cut = cut_of(all.data(), bins[r].data(), most);
          const auto sums = to_device(owners[r]);
          const Vector<std::uint32_t> indices("indices", owners[r].size());
          const Vector<float> kept("kept", owners[r].size());
          const index_t n = take_above(exec, sums, 1000, cut, indices.data(), kept.data());
          index_t place = 0, ties = 0;
          const auto left = to_host(sums), kept_values = to_host(kept);
          const auto kept_indices = to_host(indices);
          for (std::size_t i = 0; i < owners[r].size(); ++i) {
            const float v = owners[r][i];
            const bool tie = bin_of(v) == cut.bin;
            const bool taken = v != 0 && (bin_of(v) > cut.bin || (tie && ties < cut.share));
            if (v != 0 && tie) ++ties;
            ASSERT_EQ(left[i], taken ? 0 : v);
            if (!taken) continue;
            ASSERT_EQ(kept_indices[static_cast<std::size_t>(place)], 1000 + i);
            ASSERT_EQ(kept_values[static_cast<std::size_t>(place++)], v);
          }
          EXPECT_EQ(n, place);
          total += n;
        }
        EXPECT_LE(total, most);
        EXPECT_GE(total, std::min(most, nonzeros) - 2);  // two owners have a share that may be rounded down
      }
    }
  }
}

TEST(OwnedSums, CountsWhatIsNotFinite) {
  const Vector<std::int32_t> bins("bins", magnitude_bins);
  magnitude_histogram(Exec(), to_device<float>({INFINITY, -INFINITY, NAN, 3e38f, 0}), bins);
  const auto found = to_host(bins);
  EXPECT_EQ(std::accumulate(found.begin() + first_non_finite_bin, found.end(), 0), 3);
  EXPECT_EQ(std::accumulate(found.begin(), found.end(), 0), 4);
}

}  // namespace owned_sums_test
}  // namespace gradcomp::kernels
