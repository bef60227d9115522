// Majority votes on any number of ranks with both reducers: comparison with counting, ties, minorities, flags.
#include "distributed/training_steps.hpp"
#include "gradcomp/exchange/reduction.hpp"
#include "gradcomp/method/spec.hpp"

namespace gradcomp::test {
namespace vote_test {

/// The result of a vote with the values of this rank; empty if those of some rank are not finite.
std::vector<float> vote(Transport& comm, const std::string& spec, const std::vector<float>& values,
                        std::int64_t step = 0) {
  const MethodSpec method = parse_method(spec);
  const auto n = static_cast<index_t>(values.size());
  Faults faults;
  Reduction reduction(method, Layout::flat(n), comm, faults);
  const auto gradient = to_device(values);
  const Vector<float> out("out", values.size());
  reduction.begin(Exec(), gradient, out, context_of(step, comm), nullptr);
  reduce(reduction, Exec());
  faults.fetch(Exec());
  EXPECT_EQ(reduction.bytes().header, payload_header_bytes);
  if (faults.diverged()) return {};
  EXPECT_EQ(reduction.bytes().payload, 4 * ((n + 31) / 32));
  return to_host(out);
}

/// Values of rank r: small integers, including zeros of both signs, so that ties are frequent.
std::vector<float> ballots(index_t n, int rank) {
  std::vector<float> values(static_cast<std::size_t>(n));
  for (index_t i = 0; i < n; ++i) {
    const auto hash = static_cast<std::uint64_t>(i + 1) * 2654435761u * static_cast<std::uint64_t>(2 * rank + 3);
    const int value = static_cast<int>((hash >> 13) % 5) - 2;
    values[static_cast<std::size_t>(i)] = value == 0 && i % 2 == 0 ? -0.0f : static_cast<float>(value);
  }
  return values;
}

class Vote : public testing::TestWithParam<std::string> {
 protected:
  std::unique_ptr<Transport> comm = world();
  int rank = comm->rank(), ranks = comm->size();
};

INSTANTIATE_TEST_SUITE_P(Signs, Vote,
                         testing::Values("sign", "sign:reducer=allgather", "sign:ties=positive",
                                         "sign:ties=positive:reducer=allgather", "signum", "signum:reducer=allgather"),
                         [](const auto& row) {
                           std::string name = row.param;
                           for (char& c : name) c = std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
                           return name;
                         });

/// The result of a tie of element i of n. In whole blocks of 1024, rows of 32 elements alternate; in the rest,
/// elements.
float tied(const std::string& spec, index_t i, index_t n, std::int64_t step) {
  const index_t place = i < n / 1024 * 1024 ? i / 32 : i;
  return spec.find("positive") == std::string::npos && (place + step) % 2 == 1 ? -1.0f : 1.0f;
}

TEST_P(Vote, IsTheSignThatMostRanksHave) {
  std::int64_t step = 0;
  for (const index_t n : {0, 1, 31, 32, 33, 97, 1023, 1024, 1025, 4096, 10007}) {
    const auto out = vote(*comm, GetParam(), ballots(n, rank), ++step);
    std::vector<int> negative(static_cast<std::size_t>(n), 0);
    for (int r = 0; r < ranks; ++r) {
      const auto values = ballots(n, r);
      for (std::size_t i = 0; i < values.size(); ++i) negative[i] += values[i] < 0;
    }
    int wrong = out.size() == negative.size() ? 0 : 1;
    for (std::size_t i = 0; i < out.size(); ++i) {
      const float tie = tied(GetParam(), static_cast<index_t>(i), n, step);
      wrong += out[i] != (2 * negative[i] == ranks ? tie : 2 * negative[i] > ranks ? -1.0f : 1.0f);
    }
    EXPECT_EQ(wrong, 0) << n;
    EXPECT_TRUE(same_bits(*comm, out)) << n;
  }
}

TEST_P(Vote, AMinorityNeverTurnsAUnanimousVote) {
  const auto truth = gradient_values(3001, 7, 0);
  for (int flipped = 0; 2 * flipped < ranks; ++flipped) {
    auto own = truth;
    if (rank < flipped) {
      for (float& v : own) v = -v;
    }
    const auto out = vote(*comm, GetParam(), own);
    int wrong = out.size() == truth.size() ? 0 : 1;
    for (std::size_t i = 0; i < out.size(); ++i) wrong += truth[i] != 0 && out[i] != (truth[i] < 0 ? -1.0f : 1.0f);
    EXPECT_EQ(wrong, 0) << flipped << " of " << ranks;
  }
}

TEST_P(Vote, TiesAreBrokenBothWaysOrArePositive) {
  if (ranks % 2 != 0) GTEST_SKIP() << "needs an even number of ranks";
  const std::vector<float> halves(2048, rank < ranks / 2 ? -1.0f : 1.0f);
  const auto now = vote(*comm, GetParam(), halves, 6), then = vote(*comm, GetParam(), halves, 7);
  ASSERT_EQ(now.size(), 2048u);
  float sum = 0;
  for (std::size_t i = 0; i < now.size(); ++i) sum += now[i] + then[i];
  EXPECT_EQ(sum, GetParam().find("positive") == std::string::npos ? 0.0f : 4096.0f) << "ties cancel";
}

TEST_P(Vote, ANonFiniteElementOnOneRankIsSeenOnAll) {
  for (int bad = 0; bad < ranks; ++bad) {
    auto own = ballots(500, rank);
    if (rank == bad) own[499] = std::nanf("");
    EXPECT_TRUE(vote(*comm, GetParam(), own).empty());
  }
}

TEST(VoteOptions, FeedbackIsRefusedByName) {
  for (const std::string name : {"sign", "signum"}) {
    for (const std::string kind : {"residual", "ef21", "momentum_correction"}) {
      try {
        parse_method(name + ":feedback=" + kind);
        ADD_FAILURE() << name << " took feedback=" << kind;
      } catch (const Error& error) {
        EXPECT_NE(std::string(error.what()).find("feedback"), std::string::npos) << error.what();
        EXPECT_NE(std::string(error.what()).find(kind), std::string::npos) << error.what();
      }
    }
    EXPECT_DOUBLE_EQ(parse_method(name).learning_rate(0.1), 1e-4);
  }
}

TEST(VoteOptions, RanksWithOtherOptionsAreRefused) {
  const auto comm = world();
  if (comm->size() == 1) GTEST_SKIP() << "needs two ranks";
  const std::string spec = comm->rank() == 0 ? "signum:beta=0.5" : "signum";
  EXPECT_THROW(vote(*comm, spec, std::vector<float>(100, 1.0f)), Error);
}

}  // namespace vote_test
}  // namespace gradcomp::test
