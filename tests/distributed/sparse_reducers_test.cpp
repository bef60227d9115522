// gtop_k and ok_topk on any number of ranks: equal bits on all ranks, nothing lost, at most k entries, flags, and
// comparisons with plain serial references.
#include <algorithm>
#include <map>

#include "distributed/training_steps.hpp"

namespace gradcomp::test {
namespace sparse_reducers_test {

std::vector<std::string> specs() {
  std::vector<std::string> list;
  for (const std::string method : {"top_k:ratio=0.05", "top_k:ratio=0.5", "sidco:ratio=0.05"}) {
    for (const std::string reducer :
         {"gtop_k", "ok_topk", "ok_topk:reducer.interval=2", "ok_topk:reducer.select=off"}) {
      list.push_back(method + ":reducer=" + reducer);
    }
  }
  return list;
}

class Reducers : public testing::TestWithParam<std::string> {
 protected:
  std::unique_ptr<Transport> comm = world();
  int ranks = comm->size();
  std::string spec = GetParam();
};

INSTANTIATE_TEST_SUITE_P(Sparse, Reducers, testing::ValuesIn(specs()), test_name);

/// Gradients of ranks that have a large part in common, as in real training.
std::vector<float> correlated(index_t count, int rank, int step) {
  const auto common = gradient_values(count, 1000, step), own = gradient_values(count, rank, step);
  std::vector<float> g(common);
  for (std::size_t i = 0; i < g.size(); ++i) g[i] += 0.3f * own[i];
  return g;
}

/// |P mean + sum of changes of the memory - sum of gradients| over `steps` steps: the largest element, the sum over the
/// elements, and the sum of what was sent.
struct Loss {
  double most = 0, total = 0, sent = 0;
};
Loss lost_mass(Transport& comm, const std::string& spec, Role memory, bool correlate, int steps) {
  Replica run(parse_method(spec), comm, "overlapped");
  std::vector<float> before = run.memory(memory);
  Loss loss;
  for (int step = 0; step < steps; ++step) {
    const auto g = correlate ? correlated(run.layout().count(), comm.rank(), step) : run.own_gradient(step);
    run.step(step, g);
    const auto after = run.memory(memory), mean = run.mean();
    std::vector<float> sent(before.size());
    for (std::size_t i = 0; i < sent.size(); ++i) sent[i] = before[i] + g[i] - after[i];
    const auto sum = sum_over_all(comm, sent);
    for (std::size_t i = 0; i < sum.size(); ++i) {
      const double error = std::abs(sum[i] - comm.size() * static_cast<double>(mean[i]));
      loss.most = std::max(loss.most, error);
      loss.total += error;
      loss.sent += std::abs(sum[i]);
    }
    before = after;
  }
  EXPECT_FALSE(run.diverged());
  return loss;
}

TEST_P(Reducers, GiveTheSameBitsOnEveryRankAndInBothSchedules) {
  Replica synchronous(parse_method(spec), *comm, "synchronous"), overlapped(parse_method(spec), *comm, "overlapped");
  for (int step = 0; step < 4; ++step) {
    synchronous.step(step);
    overlapped.step(step);
    const auto a = synchronous.mean(), b = overlapped.mean();
    EXPECT_TRUE(same_bits(*comm, a)) << "step " << step;
    EXPECT_EQ(std::memcmp(a.data(), b.data(), a.size() * sizeof(float)), 0) << "step " << step;
    EXPECT_EQ(synchronous.residual(), overlapped.residual());
  }
}

TEST_P(Reducers, LoseNothing) {
  EXPECT_LE(lost_mass(*comm, spec, Role::residual, false, 5).most, 1e-5 * ranks);
  EXPECT_LE(lost_mass(*comm, spec, Role::residual, true, 5).most, 1e-5 * ranks);
  // Without momentum, the velocity is the gradient.
  EXPECT_LE(
      lost_mass(*comm, spec + ":feedback=momentum_correction:feedback.momentum=0", Role::velocity_sum, true, 5).most,
      1e-5 * ranks);
}

// Lists of entries contain the values that receivers decode.
TEST(SparseCodings, LoseNothingEither) {
  const auto comm = world();
  for (const std::string reducer : {"gtop_k", "ok_topk", "ok_topk:reducer.select=off"}) {
    const std::string spec = "top_k:ratio=0.05:index=rice:values=bf16:reducer=" + reducer;
    EXPECT_LE(lost_mass(*comm, spec, Role::residual, true, 5).most, 1e-5 * comm->size()) << reducer;
  }
}

TEST(SparseMethods, AllLoseNothing) {
  const auto comm = world();
  int carried = 0;
  for (const Entry& entry : all_entries()) {
    if (!entry.info.sparse) continue;
    ++carried;
    for (const std::string reducer : {"gtop_k", "ok_topk"}) {
      const std::string spec = entry.info.name + ":feedback=residual:reducer=" + reducer;
      EXPECT_LE(lost_mass(*comm, spec, Role::residual, true, 2).most, 1e-5 * comm->size()) << spec;
    }
  }
  EXPECT_GE(carried, 2);
}

TEST_P(Reducers, TheMeanOfWhatRanksSentIsTheEstimateOfEf21) {
  Replica run(parse_method(spec + ":feedback=ef21"), *comm, "overlapped");
  for (int step = 0; step < 4; ++step) {
    run.step(step, correlated(run.layout().count(), comm->rank(), step));
    const auto sum = sum_over_all(*comm, run.memory(Role::ef21_sent));
    const auto estimate = run.mean();
    EXPECT_EQ(estimate, run.memory(Role::ef21_estimate));
    double worst = 0;
    for (std::size_t i = 0; i < sum.size(); ++i) {
      worst = std::max(worst, std::abs(sum[i] / ranks - static_cast<double>(estimate[i])));
    }
    EXPECT_LE(worst, 1e-5) << "step " << step;
  }
}

TEST_P(Reducers, OnOneRankAreTheAllgather) {
  if (ranks > 1) GTEST_SKIP() << "the test is for one rank";
  const std::string plain = spec.substr(0, spec.find(":reducer"));
  Replica gather(parse_method(plain), *comm, "synchronous"), run(parse_method(spec), *comm, "synchronous");
  for (int step = 0; step < 4; ++step) {
    const StepReport expected = gather.step(step), found = run.step(step);
    EXPECT_EQ(gather.mean(), run.mean());
    EXPECT_EQ(gather.residual(), run.residual());
    EXPECT_EQ(expected.payload_bytes, found.payload_bytes);
    EXPECT_EQ(found.wire_bytes, 0);
  }
}

TEST_P(Reducers, ANanOfOneRankIsSeenOnAllAndEntersNoMemory) {
  for (const std::string schedule : {"synchronous", "overlapped"}) {
    for (const std::size_t element : {5, 2890}) {  // in the last and in the first bucket to travel
      Replica run(parse_method(spec), *comm, schedule);
      run.step(0);
      run.spoilt_step(1, ranks / 2, element);
      EXPECT_TRUE(run.diverged()) << schedule;
      EXPECT_TRUE(all_finite(run.residual())) << schedule;
    }
  }
}

TEST_P(Reducers, ASumThatOverflowsIsSeenOnAllRanks) {
  if (ranks == 1) GTEST_SKIP() << "needs two ranks";
  Replica run(parse_method(spec), *comm, "overlapped");
  auto gradient = run.own_gradient(0);
  gradient[100] = 3e38f;
  run.step(0, gradient);
  EXPECT_TRUE(run.diverged());
  EXPECT_TRUE(all_finite(run.residual()));
}

TEST_P(Reducers, TakeZerosAndConstants) {
  Replica run(parse_method(spec), *comm, "overlapped");
  for (const float value : {0.0f, 1.0f, 1.0f}) {
    run.step(0, std::vector<float>(run.mean().size(), value));
    EXPECT_TRUE(same_bits(*comm, run.mean()));
    if (value == 0) {
      EXPECT_EQ(run.mean(), run.residual());
    }
  }
  const auto mean = run.mean();
  EXPECT_GT(std::count_if(mean.begin(), mean.end(), [](float x) { return x != 0; }), 0);
}

/// The k largest entries of each tensor of a bucket, which top_k sends without feedback.
std::map<index_t, float> top_entries(const Layout& bucket, const float* g, double ratio) {
  std::map<index_t, float> entries;
  for (const Segment& segment : bucket.segments) {
    std::vector<index_t> order(static_cast<std::size_t>(segment.count));
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = segment.offset + static_cast<index_t>(i);
    std::stable_sort(order.begin(), order.end(), [&](index_t a, index_t b) { return std::abs(g[a]) > std::abs(g[b]); });
    order.resize(std::max<std::size_t>(1, static_cast<std::size_t>(ratio * static_cast<double>(segment.count))));
    for (const index_t i : order) entries[i] = g[i];
  }
  return entries;
}

std::map<index_t, float> sum_of(std::map<index_t, float> a, const std::map<index_t, float>& b) {
  for (const auto& [index, value] : b) a[index] += value;
  return a;
}

/// The k largest entries; of equal ones, those with the lowest indices.
std::map<index_t, float> largest(const std::map<index_t, float>& all, std::size_t k) {
  std::vector<std::pair<index_t, float>> order(all.begin(), all.end());
  std::stable_sort(order.begin(), order.end(),
                   [](const auto& x, const auto& y) { return std::abs(x.second) > std::abs(y.second); });
  order.resize(std::min(order.size(), k));
  return {order.begin(), order.end()};
}

TEST(SparseGTopK, IsTheSerialTree) {
  const auto comm = world();
  const int ranks = comm->size();
  const double ratio = 0.05;
  Replica run(parse_method("top_k:ratio=0.05:reducer=gtop_k:feedback=none:granularity=tensor"), *comm, "overlapped");
  for (int step = 0; step < 2; ++step) {
    run.step(step);
    const auto mean = run.mean();
    for (const BucketRange& range : run.exchange().buckets()) {
      const Layout bucket = run.layout().slice(range.first, range.last);
      std::vector<std::map<index_t, float>> lists;
      for (int r = 0; r < ranks; ++r) {
        const auto g = gradient_values(run.layout().count(), r, step);
        lists.push_back(top_entries(bucket, g.data() + range.offset, ratio));
      }
      const std::size_t k = lists[0].size();
      for (int stride = 1; stride < ranks; stride *= 2) {
        for (int r = 0; r + stride < ranks; r += 2 * stride) {
          auto& list = lists[static_cast<std::size_t>(r)];
          list = largest(sum_of(list, lists[static_cast<std::size_t>(r + stride)]), k);
        }
      }
      std::vector<float> expected(static_cast<std::size_t>(range.count), 0.0f);
      for (const auto& [i, v] : lists[0])
        expected[static_cast<std::size_t>(i)] += v * (1.0f / static_cast<float>(ranks));
      EXPECT_EQ(std::memcmp(expected.data(), mean.data() + range.offset, expected.size() * sizeof(float)), 0)
          << "bucket at " << range.offset << ", step " << step;
      EXPECT_LE(lists[0].size(), k);
    }
  }
}

std::map<index_t, float> sums_of_all(const Layout& bucket, const BucketRange& range, int ranks, int step, double ratio,
                                     index_t count) {
  std::map<index_t, float> sums;
  for (int r = 0; r < ranks; ++r) {
    sums = sum_of(sums, top_entries(bucket, gradient_values(count, r, step).data() + range.offset, ratio));
  }
  return sums;
}

TEST(SparseOkTopk, WithoutSelectionIsTheExactSum) {
  const auto comm = world();
  Replica run(parse_method("top_k:ratio=0.05:reducer=ok_topk:reducer.select=off:reducer.interval=2:feedback=none:"
                           "granularity=tensor"),
              *comm, "overlapped");
  for (int step = 1; step < 4; ++step) {  // the boundaries of the first step divide the indices evenly
    run.step(step);
    const auto mean = run.mean();
    for (const BucketRange& range : run.exchange().buckets()) {
      const Layout bucket = run.layout().slice(range.first, range.last);
      std::vector<float> expected(static_cast<std::size_t>(range.count), 0.0f);
      for (const auto& [i, v] : sums_of_all(bucket, range, comm->size(), step, 0.05, run.layout().count())) {
        expected[static_cast<std::size_t>(i)] += v * (1.0f / static_cast<float>(comm->size()));
      }
      EXPECT_EQ(std::memcmp(expected.data(), mean.data() + range.offset, expected.size() * sizeof(float)), 0)
          << "bucket at " << range.offset << ", step " << step;
    }
  }
}

/// The bin of a value in ok_topk's histogram.
std::uint32_t bin_of(float x) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, &x, sizeof bits);
  return (bits & 0x7fffffffu) >> 19;
}

TEST(SparseOkTopk, KeepsTheLargestSums) {
  const auto comm = world();
  const int ranks = comm->size();
  Replica run(parse_method("top_k:ratio=0.05:reducer=ok_topk:feedback=none:granularity=tensor"), *comm, "overlapped");
  for (int step = 0; step < 3; ++step) {
    run.step(step);
    const auto mean = run.mean();
    for (const BucketRange& range : run.exchange().buckets()) {
      const Layout bucket = run.layout().slice(range.first, range.last);
      const auto sums = sums_of_all(bucket, range, ranks, step, 0.05, run.layout().count());
      const std::size_t k = top_entries(bucket, gradient_values(range.count, 0, 0).data(), 0.05).size();
      std::size_t kept = 0;
      std::uint32_t least = 4096, max_dropped = 0;
      for (const auto& [i, v] : sums) {
        const float found = mean[static_cast<std::size_t>(range.offset + i)];
        if (found != 0) {
          EXPECT_EQ(found, v * (1.0f / static_cast<float>(ranks)));
          ++kept;
          least = std::min(least, bin_of(v));
        } else {
          max_dropped = std::max(max_dropped, bin_of(v));
        }
      }
      EXPECT_LE(kept, k);
      EXPECT_GE(kept + static_cast<std::size_t>(ranks), std::min(k, sums.size()));
      EXPECT_GE(least, max_dropped);
      const auto nonzeros = std::count_if(mean.begin() + range.offset, mean.begin() + range.offset + range.count,
                                          [](float x) { return x != 0; });
      EXPECT_EQ(static_cast<std::size_t>(nonzeros), kept);
    }
  }
}

// After step 0 has set the boundaries, all entries lie in the range of one owner, and some ranks have none.
TEST(SparseOkTopk, TakesEntriesThatAllHaveOneOwner) {
  const auto comm = world();
  for (const std::string reducer : {"ok_topk", "ok_topk:reducer.interval=1", "gtop_k"}) {
    Replica run(parse_method("sidco:ratio=0.05:feedback=none:reducer=" + reducer), *comm, "overlapped");
    run.step(0);
    for (int step = 1; step < 3; ++step) {
      std::vector<float> g(run.mean().size(), 0.0f);
      if (comm->rank() % 2 == 0) std::fill(g.begin() + 500, g.begin() + 510, 1.0f + static_cast<float>(step));
      run.step(step, g);
      const auto mean = run.mean();
      const float expected = static_cast<float>((comm->size() + 1) / 2) * (1.0f + static_cast<float>(step));
      for (std::size_t i = 0; i < mean.size(); ++i) {
        EXPECT_NEAR(mean[i] * static_cast<float>(comm->size()), i >= 500 && i < 510 ? expected : 0.0f, 1e-5f)
            << i << " of " << reducer;
      }
    }
  }
}

// Round 0 moves nothing in steps that keep the boundaries, and the histogram travels only if it is needed.
TEST(SparseOkTopk, BalancesOnlyInSomeSteps) {
  const auto comm = world();
  const index_t ranks = comm->size();
  for (const bool select : {false, true}) {
    Replica run(
        parse_method(std::string("sidco:reducer=ok_topk:reducer.interval=3:reducer.select=") + (select ? "on" : "off")),
        *comm, "overlapped");
    const auto buckets = static_cast<index_t>(run.exchange().buckets().size());
    for (int step = 2; step < 7; ++step) {  // without entries, so that only calls remain that do not depend on them
      const StepReport report = run.step(step, std::vector<float>(run.mean().size(), 0.0f));
      const index_t lists = (ranks - 1) * (40 + 8 * ranks) + (ranks - 1) * (40 + 8);
      const index_t histogram = select ? 2 * (ranks - 1) * 4 * 4096 / ranks : 0;
      const index_t expected = buckets * (lists + histogram), cuts = 2 * (ranks - 1) * 8 * (ranks - 1) / ranks;
      const index_t extra = report.wire_bytes - expected;
      if (step % 3 == 0) {
        EXPECT_NEAR(static_cast<double>(extra), static_cast<double>(buckets * cuts),
                    32.0 * static_cast<double>(buckets));
        EXPECT_TRUE(ranks < 3 || extra > 0);
      } else {
        EXPECT_NEAR(static_cast<double>(extra), 0.0, select ? 16.0 * static_cast<double>(buckets) : 0.0);
      }
    }
  }
}

// An early merge drops an entry, while its index arrives through another subtree.
TEST(SparseGTopK, ThePaperLosesWhatRanksHaveInCommon) {
  const auto comm = world();
  const std::string spec = "top_k:ratio=0.05:reducer=gtop_k:reducer.variant=";
  const Loss paper = lost_mass(*comm, spec + "paper", Role::residual, true, 20);
  const Loss fixed = lost_mass(*comm, spec + "fixed", Role::residual, true, 20);
  EXPECT_LE(fixed.total, 1e-6 * fixed.sent);
  if (comm->size() > 2) {
    EXPECT_GT(paper.total, 1e-3 * paper.sent);
  } else {
    EXPECT_LE(paper.total, 1e-6 * paper.sent);  // with two ranks there is no other subtree
  }
}

// Bytes that a rank sends over the tree: a leaf at distance 1 sends its k entries, and the root only sends the result.
TEST(SparseGTopK, SendsTheBytesOfTheTree) {
  const auto comm = world();
  const int ranks = comm->size(), rank = comm->rank();
  Replica run(parse_method("top_k:ratio=0.05:reducer=gtop_k"), *comm, "overlapped");
  const StepReport report = run.step(0);
  const auto buckets = static_cast<index_t>(run.exchange().buckets().size());
  index_t messages = 0;
  for (int stride = 1; stride < ranks; stride *= 2) {
    const bool up = rank % (2 * stride) == stride, down = rank % (2 * stride) == 0 && rank + stride < ranks;
    messages += up || down ? 1 : 0;
  }
  EXPECT_EQ(report.wire_bytes, messages * (report.payload_bytes + buckets * 40));
}

}  // namespace sparse_reducers_test
}  // namespace gradcomp::test
