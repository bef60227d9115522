// The order of the calls, the report and what is not finite, with a method of two rounds over a transport that records
// its calls.
#include "gradcomp/exchange/exchange.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "gradcomp/comm/mpi_session.hpp"
#include "gradcomp/method/spec.hpp"
#include "unit/comm/fake_transport.hpp"
#include "unit/exchange/two_rounds.hpp"

namespace gradcomp {
namespace exchange_test {

using test::FakeTransport;
using testing::ElementsAre;

class Exchanges : public testing::Test {
 protected:
  Exchanges() {
    layout.add("a", {10}).add("b", {20}).add("c", {5}).add("d", {6});
    method = parse_method("fp32");
    method.compressor = std::make_shared<test::TwoRounds>();
    options.bucket_bytes = 25 * 4;  // buckets d+c, b, a
    gradient = Vector<float>("gradient", 41);
    mean = Vector<float>("mean", 41);
    const auto values = Kokkos::create_mirror_view(gradient);
    for (std::size_t i = 0; i < 41; ++i) values(i) = static_cast<float>(i + 1);
    Kokkos::deep_copy(gradient, values);
  }

  std::unique_ptr<Exchange> make(const std::string& name) {
    options.overlapped = name == "overlapped";
    auto exchange = make_exchange(method, layout, comm, options);
    comm.log->calls.clear();
    return exchange;
  }
  void step(Exchange& exchange, std::int64_t number = 0, Timeline* timeline = nullptr) {
    exchange.begin(exec, gradient, mean, {1, number, 0, 2}, timeline);
    exchange.finish(exec);
  }

  void write(index_t place, float value) {
    Kokkos::deep_copy(subspan<float>(gradient, place, 1), HostSpan<const float>(&value, 1));
  }

  Layout layout;
  MethodSpec method;
  ExchangeOptions options;
  FakeTransport comm{2};
  Vector<float> gradient, mean;
  Exec exec;
};

TEST_F(Exchanges, SynchronousFinishesOneBucketAfterTheOther) {
  const auto exchange = make("synchronous");
  exchange->begin(exec, gradient, mean, {1, 0, 0, 2}, nullptr);
  exchange->gradient_ready(exec, 0);
  EXPECT_TRUE(comm.log->calls.empty());
  exchange->finish(exec);
  EXPECT_THAT(comm.log->calls,
              ElementsAre("allreduce 1", "allreduce 11", "allreduce 1", "allreduce 20", "allreduce 1", "allreduce 10"));
}

TEST_F(Exchanges, OverlappedGoesRoundByRoundWhateverTheReadiness) {
  for (const std::vector<std::size_t>& readiness :
       {std::vector<std::size_t>{3, 2, 1, 0}, {0}, {2, 0}, {}, {3, 3, 1}, {1, 3}}) {
    const auto exchange = make("overlapped");
    exchange->begin(exec, gradient, mean, {1, 0, 0, 2}, nullptr);
    for (const std::size_t segment : readiness) exchange->gradient_ready(exec, segment);
    exchange->finish(exec);
    EXPECT_THAT(comm.log->calls, ElementsAre("allreduce 1", "allreduce 1", "allreduce 1", "allreduce 11",
                                             "allreduce 20", "allreduce 10"));
    const auto values = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), gradient),
               got = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), mean);
    for (std::size_t i = 0; i < 41; ++i) EXPECT_EQ(got(i), values(i));
  }
}

TEST_F(Exchanges, ReportsBytesAndDensityOfAllBuckets) {
  for (const char* name : {"synchronous", "overlapped"}) {
    const auto exchange = make(name);
    for (int number = 0; number < 2; ++number) {
      step(*exchange, number);
      const StepReport report = exchange->report();
      EXPECT_EQ(report.payload_bytes, 3 * 4 + 41 * 4);
      EXPECT_EQ(report.header_bytes, 0);
      EXPECT_EQ(report.density_ratio, std::vector<double>(3, 0.5));
      EXPECT_NEAR(static_cast<double>(report.wire_bytes), 44 * 4, 3 * 2 * 4);  // 2 ranks send half of it twice
    }
  }
}

// Otherwise a rank that has not sent yet would wait forever.
TEST_F(Exchanges, ANanOfOneBucketIsSeenAndChangesNoCall) {
  for (const char* name : {"synchronous", "overlapped"}) {
    const auto exchange = make(name);
    step(*exchange);
    EXPECT_FALSE(exchange->diverged());
    const auto calls = std::exchange(comm.log->calls, {});
    write(10, std::nanf(""));  // first element of bucket b
    step(*exchange, 1);
    EXPECT_TRUE(exchange->diverged());
    EXPECT_EQ(comm.log->calls, calls);
    write(10, 11);
  }
}

TEST_F(Exchanges, RecordsStagesAndWaits) {
  for (const char* name : {"synchronous", "overlapped"}) {
    const auto exchange = make(name);
    Timeline timeline;
    timeline.begin_step();
    step(*exchange, 0, &timeline);
    timeline.end_step();
    EXPECT_EQ(timeline.last(Stage::exchange).size(), 6u);
    EXPECT_EQ(timeline.last(Stage::compress).size(), 6u);
    EXPECT_GE(timeline.last(Stage::decompress).size(), 3u);
    EXPECT_GT(timeline.exposed_seconds().median(), 0.0);
  }
}

TEST_F(Exchanges, FailuresOfTheExchangeReachTheCaller) {
  for (const char* name : {"synchronous", "overlapped"}) {
    const auto exchange = make(name);
    comm.log->fail_at = "allreduce 20";
    EXPECT_THROW(step(*exchange), Error);
    comm.log->fail_at.clear();
  }
}

TEST_F(Exchanges, RefusesWhatItCannotRun) {
  comm.log->threads = false;
  options.overlapped = true;
  EXPECT_THROW(make_exchange(method, layout, comm, options), AgreedError);
  options.overlapped = false;
  EXPECT_NO_THROW(make_exchange(method, layout, comm, options));
  const auto exchange = make("synchronous");
  EXPECT_THROW(exchange->begin(exec, Vector<float>("short", 3), mean, {}, nullptr), Error);
}

TEST_F(Exchanges, AnEmptyModelHasNothingToDo) {
  layout = Layout();
  const auto exchange = make("overlapped");
  exchange->begin(exec, Span<const float>(), Span<float>(), {}, nullptr);
  exchange->finish(exec);
  EXPECT_FALSE(exchange->diverged());
  EXPECT_TRUE(comm.log->calls.empty());
}

}  // namespace exchange_test
}  // namespace gradcomp
