// The order of the calls, the report and the skipping of a step, with a method of two rounds over a transport that
// records its calls.
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
namespace {

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
  exchange->begin(exec, gradient, mean, 0, nullptr);
  exchange->ready(exec, 0);
  EXPECT_TRUE(comm.log->calls.empty());
  exchange->end(exec);
  EXPECT_THAT(comm.log->calls,
              ElementsAre("allreduce 1", "allreduce 11", "allreduce 1", "allreduce 20", "allreduce 1", "allreduce 10"));
}

TEST_F(Exchanges, OverlappedGoesRoundByRoundWhateverTheReadiness) {
  for (const std::vector<std::size_t>& readiness :
       {std::vector<std::size_t>{3, 2, 1, 0}, {0}, {2, 0}, {}, {3, 3, 1}, {1, 3}}) {
    const auto exchange = make("overlapped");
    exchange->begin(exec, gradient, mean, 0, nullptr);
    for (const std::size_t segment : readiness) exchange->ready(exec, segment);
    exchange->end(exec);
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
    for (int step = 0; step < 2; ++step) {
      exchange->begin(exec, gradient, mean, step, nullptr);
      const StepReport report = exchange->end(exec);
      EXPECT_FALSE(report.skipped());
      EXPECT_EQ(report.payload_bytes, 3 * 4 + 41 * 4);
      EXPECT_EQ(report.header_bytes, 0);
      EXPECT_EQ(report.density_ratio, std::vector<double>(3, 0.5));
      EXPECT_NEAR(static_cast<double>(report.wire_bytes), 44 * 4, 3 * 2 * 4);  // 2 ranks send half of it twice
    }
  }
}

TEST_F(Exchanges, OneFlaggedBucketGivesAllBucketsBack) {
  for (const char* name : {"synchronous", "overlapped"}) {
    const auto exchange = make(name);
    write(10, std::nanf(""));  // first element of bucket b
    exchange->begin(exec, gradient, mean, 0, nullptr);
    const StepReport report = exchange->end(exec);
    EXPECT_TRUE(report.skipped());
    EXPECT_EQ(report.density_ratio, std::vector<double>(3, 0.0));
    write(10, 1);
    exchange->begin(exec, gradient, mean, 1, nullptr);
    EXPECT_FALSE(exchange->end(exec).skipped());
  }
}

TEST_F(Exchanges, RecordsStagesAndWaits) {
  for (const char* name : {"synchronous", "overlapped"}) {
    const auto exchange = make(name);
    Timeline timeline;
    timeline.begin_step();
    exchange->begin(exec, gradient, mean, 0, &timeline);
    exchange->end(exec);
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
    exchange->begin(exec, gradient, mean, 0, nullptr);
    EXPECT_THROW(exchange->end(exec), Error);
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
  EXPECT_THROW(exchange->begin(exec, Vector<float>("short", 3), mean, 0, nullptr), Error);
}

TEST_F(Exchanges, AnEmptyModelHasNothingToDo) {
  layout = Layout();
  const auto exchange = make("overlapped");
  exchange->begin(exec, Span<const float>(), Span<float>(), 0, nullptr);
  EXPECT_FALSE(exchange->end(exec).skipped());
  EXPECT_TRUE(comm.log->calls.empty());
}

}  // namespace
}  // namespace gradcomp
