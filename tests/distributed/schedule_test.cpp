// Schedules: the dense mean against its reference, the bytes in the report, and errors if ranks disagree or a payload
// is broken.
#include <numeric>

#include "distributed/training_steps.hpp"
#include "forwarding.hpp"

namespace gradcomp::test {
namespace schedule_test {

using testing::HasSubstr;

const char* const schedules[] = {"synchronous", "overlapped"};

TEST(Dense, MeanIsTheReference) {
  const auto comm = world();
  for (const std::string schedule : schedules) {
    Replica run(parse_method("fp32"), *comm, schedule);
    EXPECT_GT(run.exchange().buckets().size(), 1u);
    EXPECT_EQ(run.exchange().transport().overlaps(), schedule == "overlapped");
    for (int step = 0; step < 2; ++step) {
      auto gradient = run.own_gradient(step);
      for (float& g : gradient) g = std::round(g * 1000.0f);  // sums of integers are exact in every order
      run.step(step, gradient);
      const auto sum = sum_over_all(*comm, gradient);
      const auto mean = run.mean();
      for (std::size_t i = 0; i < mean.size(); ++i) {
        EXPECT_EQ(mean[i], static_cast<float>(sum[i]) / static_cast<float>(comm->size()));
      }
    }
  }
}

TEST(Dense, WithoutTravelEveryRankKeepsItsOwnGradient) {
  const auto comm = world();
  for (const std::string method :
       {"no_exchange", "fp32:reducer=local", "fp16:reducer=local", "random_k:ratio=1:reducer=local"}) {
    Replica run(parse_method(method), *comm, "synchronous");
    auto gradient = run.own_gradient(0);
    for (float& g : gradient) g = std::round(g * 10.0f);  // 16 bits hold these integers
    EXPECT_EQ(run.step(0, gradient).wire_bytes, 0) << method;
    EXPECT_EQ(run.mean(), gradient) << method;
  }
}

TEST(Report, CountsPayloadHeaderAndWireBytes) {
  const auto comm = world();
  const int ranks = comm->size();
  for (const std::string schedule : schedules) {
    Replica dense(parse_method("fp32"), *comm, schedule);
    const index_t n = dense.layout().count();
    for (int step = 0; step < 2; ++step) {
      const StepReport report = dense.step(step);
      EXPECT_EQ(report.payload_bytes, 4 * n);
      EXPECT_EQ(report.header_bytes, 0);
      EXPECT_EQ(sum_over_ranks(*comm, {report.wire_bytes})[0], 2 * (ranks - 1) * 4 * n);
    }
    Replica sparse(parse_method("top_k:ratio=0.01"), *comm, schedule);
    const auto buckets = static_cast<index_t>(sparse.exchange().buckets().size());
    const StepReport report = sparse.step(0);
    EXPECT_EQ(report.header_bytes, buckets * payload_header_bytes);
    const index_t handed = sum_over_ranks(*comm, {report.payload_bytes + report.header_bytes})[0];
    // For each bucket, the bytes of a rank and their size (8 bytes) reach all other ranks.
    EXPECT_EQ(sum_over_ranks(*comm, {report.wire_bytes})[0], (ranks - 1) * (handed + 8 * ranks * buckets));
    EXPECT_FALSE(report.density_ratio.empty());
    for (const double ratio : report.density_ratio) EXPECT_NEAR(ratio, 1.0, 0.5);
  }
}

/// Checks that f throws an AgreedError with these texts on every rank.
template <class F>
void expect_agreed_error(F f, const std::vector<std::string>& parts) {
  try {
    f();
    ADD_FAILURE() << "no error on rank " << session().rank();
  } catch (const AgreedError& error) {
    for (const auto& part : parts) EXPECT_THAT(error.what(), HasSubstr(part));
  }
}

TEST(Handshake, RefusesRanksThatDiffer) {
  const auto comm = world();
  if (comm->size() == 1) GTEST_SKIP() << "needs two ranks";
  const bool other = comm->rank() == comm->size() - 1;
  const std::string who = fmt::format("rank {} has", comm->size() - 1);
  const auto make = [&](const std::string& method, const Layout& layout, const ExchangeOptions& options) {
    return make_exchange(parse_method(method), layout, *comm, options);
  };
  const auto model = small_model();
  const auto options = small_buckets("overlapped");
  expect_agreed_error([&] { make(other ? "top_k:ratio=0.02" : "top_k:ratio=0.01", model, options); },
                      {"ranks disagree on the method", "ratio=0.01", "ratio=0.02", who});
  expect_agreed_error([&] { make("fp32", other ? Layout::flat(model.count()) : model, options); },
                      {"ranks disagree on the model's layout", "7 tensors", "1 tensors", who});
  auto seeded = options;
  seeded.seed += other ? 1 : 0;
  expect_agreed_error([&] { make("fp32", model, seeded); }, {"ranks disagree on the exchange", "seed 7", "seed 8"});
  auto cut = options;
  cut.bucket_bytes += other ? 1000 : 0;
  expect_agreed_error([&] { make("fp32", model, cut); }, {"ranks disagree on the exchange", "buckets, hash"});
  EXPECT_NO_THROW(make("fp32", model, options));  // the transport still works
}

TEST(Agree, ThrowsTheLineOfTheLowestFailingRankEverywhere) {
  const auto comm = world();
  EXPECT_NO_THROW(run_collectively(*comm, [] {}));
  const int lowest = comm->size() > 2 ? 1 : 0;
  expect_agreed_error(
      [&] { run_collectively(*comm, [&] { require(comm->rank() < lowest, "from {}", comm->rank()); }); },
      {fmt::format("from {}", lowest)});
  const auto texts = gather_texts(*comm, std::string(static_cast<std::size_t>(comm->rank() * 100), 'x'));
  for (std::size_t r = 0; r < texts.size(); ++r) EXPECT_EQ(texts[r], std::string(r * 100, 'x'));
  EXPECT_NO_THROW(require_same_on_all_ranks(*comm, "text", std::string(1000, 'y')));
  if (comm->size() > 1) {
    expect_agreed_error([&] { require_same_on_all_ranks(*comm, "text", fmt::format("{}", comm->rank())); },
                        {"ranks disagree on the text: rank 0 has '0', rank 1 has '1'"});
  }
}

/// A method whose payload one rank breaks in one step. It overwrites a byte or sends too few bytes.
class Broken final : public Forwarding {
 public:
  enum class How { magic, count, cut };
  Broken(std::shared_ptr<const Compressor> inner, How how) : Forwarding(std::move(inner)), m_how(how) {}

  Message produce(const Exec& exec, int round, const Step& step, State& state) const override {
    Message message = Forwarding::produce(exec, round, step, state);
    if (step.context.step != 1 || step.context.rank != step.context.ranks - 1) return message;
    if (m_how == How::cut) {
      message.size = payload_header_bytes / 2;
      return message;
    }
    // The magic begins at byte 0 of the header, and the number of entries at byte 16.
    const auto at = static_cast<std::size_t>(m_how == How::magic ? 0 : 16 + 5);
    Kokkos::deep_copy(exec, Kokkos::subview(message.payload, Kokkos::pair<std::size_t, std::size_t>(at, at + 1)),
                      std::byte{0x7f});
    return message;
  }

 private:
  How m_how;
};

TEST(CorruptedPayload, IsAnErrorOnAllRanks) {
  const auto comm = world();
  for (const std::string name : {"top_k:ratio=0.01", "qsgd"}) {
    for (const auto how : {Broken::How::magic, Broken::How::count, Broken::How::cut}) {
      for (const std::string schedule : schedules) {
        MethodSpec method = parse_method(name);
        method.compressor = std::make_shared<Broken>(method.compressor, how);
        Replica run(method, *comm, schedule);
        run.step(0);
        EXPECT_FALSE(run.diverged());
        const auto step = [&] {
          run.step(1);
          run.diverged();
        };
        EXPECT_THROW(step(), Error) << name << " " << schedule;
      }
    }
  }
}

}  // namespace schedule_test
}  // namespace gradcomp::test
