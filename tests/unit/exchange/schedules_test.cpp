// The order of the exchanges, the report and the skipping of a step, with a method of two rounds over a communicator
// that writes down its calls.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "gradcomp/comm/mpi_session.hpp"
#include "gradcomp/exchange/schedule.hpp"
#include "unit/comm/fake_communicator.hpp"
#include "unit/exchange/two_rounds.hpp"

namespace gradcomp {
namespace {

using test::FakeCommunicator;
using testing::ElementsAre;

class Schedules : public testing::Test {
 protected:
  Schedules() {
    layout.add("a", {10}).add("b", {20}).add("c", {5}).add("d", {6});
    method = parse_method("fp32");
    method.compressor = std::make_shared<test::TwoRounds>();
    options.bucket_bytes = 25 * 4;  // buckets d+c, b, a
    gradient = Vector<float>("gradient", 41);
    mean = Vector<float>("mean", 41);
    for (std::size_t i = 0; i < 41; ++i) gradient(i) = static_cast<float>(i + 1);
  }

  std::unique_ptr<Schedule> make(const std::string& name) {
    options.schedule = name;
    auto schedule = make_schedule(method, layout, comm, options);
    comm.log->calls.clear();
    return schedule;
  }

  Layout layout;
  MethodSpec method;
  ScheduleOptions options;
  FakeCommunicator comm{2};
  Vector<float> gradient, mean;
  Exec exec;
};

TEST_F(Schedules, SynchronousFinishesOneBucketAfterTheOther) {
  const auto schedule = make("synchronous");
  schedule->begin_step(exec, gradient, 0, nullptr);
  schedule->on_ready(exec, 0);
  EXPECT_TRUE(comm.log->calls.empty());
  schedule->end_step(exec, mean);
  EXPECT_THAT(comm.log->calls,
              ElementsAre("allreduce 1", "allreduce 11", "allreduce 1", "allreduce 20", "allreduce 1", "allreduce 10"));
}

TEST_F(Schedules, OverlappedGoesRoundByRoundWhateverTheReadiness) {
  for (const std::vector<std::size_t>& readiness :
       {std::vector<std::size_t>{3, 2, 1, 0}, {0}, {2, 0}, {}, {3, 3, 1}, {1, 3}}) {
    const auto schedule = make("overlapped");
    schedule->begin_step(exec, gradient, 0, nullptr);
    for (const std::size_t segment : readiness) schedule->on_ready(exec, segment);
    schedule->end_step(exec, mean);
    EXPECT_THAT(comm.log->calls, ElementsAre("allreduce 1", "allreduce 1", "allreduce 1", "allreduce 11",
                                             "allreduce 20", "allreduce 10"));
    for (std::size_t i = 0; i < 41; ++i) EXPECT_EQ(mean(i), gradient(i));
  }
}

TEST_F(Schedules, ReportsBytesAndDensityOfAllBuckets) {
  for (const char* name : {"synchronous", "overlapped"}) {
    const auto schedule = make(name);
    for (int step = 0; step < 2; ++step) {
      schedule->begin_step(exec, gradient, step, nullptr);
      const StepReport report = schedule->end_step(exec, mean);
      EXPECT_FALSE(report.skipped);
      EXPECT_EQ(report.payload_bytes, 3 * 4 + 41 * 4);
      EXPECT_EQ(report.header_bytes, 0);
      EXPECT_EQ(report.density_ratio, std::vector<double>(3, 0.5));
      EXPECT_NEAR(static_cast<double>(report.wire_bytes), 44 * 4, 3 * 2 * 4);  // 2 ranks: half of it, twice
    }
  }
}

TEST_F(Schedules, OneFlaggedBucketGivesAllBucketsBack) {
  for (const char* name : {"synchronous", "overlapped"}) {
    const auto schedule = make(name);
    gradient(10) = std::nanf("");  // first element of bucket b
    schedule->begin_step(exec, gradient, 0, nullptr);
    const StepReport report = schedule->end_step(exec, mean);
    EXPECT_TRUE(report.skipped);
    EXPECT_EQ(report.density_ratio, std::vector<double>(3, 0.0));
    gradient(10) = 1;
    schedule->begin_step(exec, gradient, 1, nullptr);
    EXPECT_FALSE(schedule->end_step(exec, mean).skipped);
  }
}

TEST_F(Schedules, RecordsStagesAndWaits) {
  for (const char* name : {"synchronous", "overlapped"}) {
    const auto schedule = make(name);
    Timeline timeline;
    timeline.begin_step();
    schedule->begin_step(exec, gradient, 0, &timeline);
    schedule->end_step(exec, mean);
    timeline.end_step();
    EXPECT_EQ(timeline.last(Stage::exchange).size(), 6u);
    EXPECT_EQ(timeline.last(Stage::compress).size(), 6u);
    EXPECT_GE(timeline.last(Stage::decompress).size(), 3u);
    EXPECT_GT(timeline.exposed_seconds().median(), 0.0);
  }
}

TEST_F(Schedules, FailuresOfTheExchangeReachTheCaller) {
  for (const char* name : {"synchronous", "overlapped"}) {
    const auto schedule = make(name);
    comm.log->fail_at = "allreduce 20";
    schedule->begin_step(exec, gradient, 0, nullptr);
    EXPECT_THROW(schedule->end_step(exec, mean), Error);
    comm.log->fail_at.clear();
  }
}

TEST_F(Schedules, RefusesWhatItCannotRun) {
  comm.log->threads = false;
  options.schedule = "overlapped";
  EXPECT_THROW(make_schedule(method, layout, comm, options), AgreedError);
  options.schedule = "synchronous";
  EXPECT_NO_THROW(make_schedule(method, layout, comm, options));
  const auto schedule = make("synchronous");
  EXPECT_THROW(schedule->begin_step(exec, Vector<float>("short", 3), 0, nullptr), Error);
}

TEST_F(Schedules, AnEmptyModelHasNothingToDo) {
  layout = Layout();
  const auto schedule = make("overlapped");
  schedule->begin_step(exec, Span<const float>(), 0, nullptr);
  EXPECT_FALSE(schedule->end_step(exec, Span<float>()).skipped);
  EXPECT_TRUE(comm.log->calls.empty());
}

}  // namespace
}  // namespace gradcomp
