// Merging two sparse lists, against a std::map.
#include "gradcomp/kernels/select/merge_sparse.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>

#include "copies.hpp"
#include "gradcomp/core/error.hpp"

namespace gradcomp::kernels {
namespace merge_sparse_test {

using test::to_host;

struct Entry {
  std::uint32_t index;
  float value;
  bool operator==(const Entry& other) const { return index == other.index && value == other.value; }
};
using List = std::vector<Entry>;

/// A list on the device.
struct Device {
  explicit Device(const List& list) : indices("indices", list.size()), values("values", list.size()) {
    const auto i = Kokkos::create_mirror_view(indices);
    const auto v = Kokkos::create_mirror_view(values);
    for (std::size_t j = 0; j < list.size(); ++j) {
      i(j) = list[j].index;
      v(j) = list[j].value;
    }
    Kokkos::deep_copy(indices, i);
    Kokkos::deep_copy(values, v);
  }
  SparseView view() const { return {indices.data(), values.data(), static_cast<index_t>(values.size())}; }

  Vector<std::uint32_t> indices;
  Vector<float> values;
};

List to_list(const std::uint32_t* indices, const float* values, index_t count) {
  const auto i = to_host(indices, count);
  const auto v = to_host(values, count);
  List list;
  for (std::size_t j = 0; j < v.size(); ++j) list.push_back({i[j], v[j]});
  return list;
}

/// All nonzero sums, ascending; then split into the `most` largest and the rest.
std::pair<List, List> reference(const List& a, const List& b, index_t most) {
  std::map<std::uint32_t, float> sum;
  for (const Entry& e : a) sum[e.index] += e.value;
  for (const Entry& e : b) sum[e.index] += e.value;
  List all;
  for (const auto& [index, value] : sum) {
    if (value != 0) all.push_back({index, value});
  }
  List order = all, kept, dropped;
  std::stable_sort(order.begin(), order.end(),
                   [](const Entry& x, const Entry& y) { return std::abs(x.value) > std::abs(y.value); });
  order.resize(std::min(order.size(), static_cast<std::size_t>(most)));
  for (const Entry& e : all) (std::find(order.begin(), order.end(), e) != order.end() ? kept : dropped).push_back(e);
  return {kept, dropped};
}

void expect_merge(SparseMerge& merge, const List& a, const List& b, index_t most) {
  const Exec exec;
  ASSERT_TRUE(merge.run(exec, Device(a).view(), Device(b).view(), most));
  const auto [kept, dropped] = reference(a, b, most);
  EXPECT_EQ(to_list(merge.kept().indices, merge.kept().values, merge.kept().kept), kept);
  const auto rest = merge.dropped_values();
  List found = to_list(merge.dropped_indices().data(), rest.data(), static_cast<index_t>(rest.size()));
  std::erase_if(found, [](const Entry& e) { return e.value == 0; });
  EXPECT_EQ(found, dropped);
}

List random_list(std::mt19937& random, std::size_t count, std::uint32_t range, int levels) {
  std::map<std::uint32_t, float> entries;
  while (entries.size() < count) {
    const int level = static_cast<int>(random() % static_cast<unsigned>(2 * levels + 1)) - levels;
    entries[random() % range] = static_cast<float>(level) * 0.25f;
  }
  List list;
  for (const auto& [index, value] : entries) list.push_back({index, value});
  return list;
}

TEST(SparseMerge, AgreesWithAMap) {
  std::mt19937 random(3);
  for (const index_t capacity : {1, 2, 31, 100, 5000}) {
    SparseMerge merge(capacity);
    const auto n = static_cast<std::size_t>(capacity);
    for (const int levels : {1, 3, 1000000}) {  // few levels: ties and sums that cancel
      for (const std::size_t na : {std::size_t{0}, std::size_t{1}, n / 2, n}) {
        for (const index_t most : {index_t{0}, index_t{1}, capacity, 2 * capacity}) {
          const auto range = static_cast<std::uint32_t>(random() % 2 == 0 ? n + 1 : 20 * n);
          expect_merge(merge, random_list(random, na, range, levels), random_list(random, n, range, levels), most);
        }
      }
    }
  }
}

TEST(SparseMerge, EqualCancellingAndExtremeEntries) {
  SparseMerge merge(4);
  const List a = {{0, 1}, {3, -2}, {7, 1e-40f}, {0xffffffffu, 5}};
  expect_merge(merge, a, a, 4);
  expect_merge(merge, a, {{0, -1}, {3, 2}, {7, -1e-40f}, {0xffffffffu, -5}}, 4);  // nothing is left
  EXPECT_EQ(merge.kept().kept, 0);
  expect_merge(merge, a, {}, 4);
  expect_merge(merge, {}, a, 2);
  expect_merge(merge, {}, {}, 4);
  expect_merge(merge, {{1, 0}, {2, 0}}, {{2, 0}, {9, 3}}, 4);           // zeros are not kept
  expect_merge(merge, {{0, 1}, {1, 1}, {2, 1}}, {{3, -1}, {4, 1}}, 3);  // ties: the lowest indices
}

TEST(SparseMerge, TakesItsOwnResultAgain) {
  const Exec exec;
  SparseMerge merge(3);
  const List a = {{0, 1}, {5, 2}, {9, 3}}, b = {{5, 1}, {6, 4}, {7, -1}}, c = {{0, 9}, {6, -4}};
  ASSERT_TRUE(merge.run(exec, Device(a).view(), Device(b).view(), 3));
  const List first = reference(a, b, 3).first;
  ASSERT_TRUE(merge.run(exec, merge.kept(), Device(c).view(), 3));
  EXPECT_EQ(to_list(merge.kept().indices, merge.kept().values, merge.kept().kept), reference(first, c, 3).first);
}

TEST(SparseMerge, AnOverflowingSumIsReported) {
  const Exec exec;
  SparseMerge merge(2);
  const Device huge({{4, 3e38f}});
  EXPECT_FALSE(merge.run(exec, huge.view(), huge.view(), 2));
  EXPECT_EQ(merge.kept().kept, 0);
  EXPECT_TRUE(merge.run(exec, huge.view(), Device({{4, -3e38f}}).view(), 2));
  expect_merge(merge, {{1, 2}}, {{2, 3}}, 1);
}

TEST(SparseMerge, RefusesMoreThanItsCapacity) {
  SparseMerge merge(1);
  const Device two({{0, 1}, {1, 1}});
  EXPECT_THROW(merge.run(Exec(), two.view(), two.view(), 1), Error);
}

TEST(SparseMerge, ValuesThatTheOtherListLacks) {
  const Device a({{0, 1}, {4, 2}, {7, 3}}), b({{1, 1}, {4, 9}});
  const Vector<float> rest("rest", 3);
  values_not_in(Exec(), a.view(), b.view(), rest.data());
  EXPECT_THAT(to_host(rest.data(), 3), testing::ElementsAre(1, 0, 3));
  values_not_in(Exec(), a.view(), SparseView{}, rest.data());
  EXPECT_THAT(to_host(rest.data(), 3), testing::ElementsAre(1, 2, 3));
}

}  // namespace merge_sparse_test
}  // namespace gradcomp::kernels
