// Energy of training steps, with counters that are 5 joules higher at every reading.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "training/rig.hpp"

namespace gradcomp::train::test {
namespace energy_test {

constexpr double joules_a_reading = 5;

class FakeCounter final : public EnergyCounter {
 public:
  explicit FakeCounter(int readings) : m_left(readings) {}
  std::string source() const override { return "fake"; }
  std::string device() const override { return "packages"; }
  double joules() override {
    if (m_left-- == 0) throw Error("the counter is gone");
    return m_sum += joules_a_reading;
  }

 private:
  int m_left;
  double m_sum = 0;
};

EnergyMeter meter(int readings = 1000) {
  return EnergyMeter([=] { return std::make_unique<FakeCounter>(readings); });
}

EnergyMeter no_meter(const std::string& reason) {
  return EnergyMeter([=]() -> std::unique_ptr<EnergyCounter> { throw Error(reason); });
}

std::string own_host(Transport& comm) { return fmt::format("host{}", comm.rank()); }

std::vector<MethodResult> run(Rig& rig, JobEnergy& energy) {
  Job job = rig.job();
  job.energy = &energy;
  return compare(Exec(), job, rig.parse("fp32,top_k"), [](const std::string&) {});
}

TEST(JobEnergy, CountsEveryHostOnce) {
  Rig rig;
  JobEnergy shared(meter(), "host", *rig.control);
  EXPECT_EQ(shared.source(), "fake");
  EXPECT_EQ(shared.devices(), 1);
  EXPECT_EQ(shared.joules(), rig.control->rank() == 0 ? joules_a_reading : 0);
  JobEnergy apart(meter(), own_host(*rig.control), *rig.control);
  EXPECT_EQ(apart.devices(), rig.control->size());
  EXPECT_EQ(apart.joules(), joules_a_reading);
}

TEST(JobEnergy, IsNoneWhereOneRankCannotCount) {
  Rig rig;
  const int last = rig.control->size() - 1;
  JobEnergy energy(rig.control->rank() == last ? no_meter(fmt::format("rank {} may not read", last)) : meter(), "host",
                   *rig.control);
  EXPECT_EQ(energy.source(), "none");
  EXPECT_EQ(energy.reason(), fmt::format("rank {} may not read", last));
  EXPECT_EQ(energy.devices(), 0);
  for (const auto& result : run(rig, energy)) EXPECT_EQ(result.joules_per_step, std::nullopt);
}

TEST(JobEnergy, IsThatOfEachMethodsBlocks) {
  Rig rig;  // 8 steps in blocks of 2, so that a method has 4 spans
  JobEnergy energy(meter(), "host", *rig.control);
  for (const auto& result : run(rig, energy)) EXPECT_DOUBLE_EQ(result.joules_per_step.value(), 4 * 5.0 / 8);
}

TEST(JobEnergy, IsTheSumOverHosts) {
  Rig rig;
  JobEnergy energy(meter(), own_host(*rig.control), *rig.control);
  const double hosts = rig.control->size();
  for (const auto& result : run(rig, energy)) EXPECT_DOUBLE_EQ(result.joules_per_step.value(), hosts * 4 * 5.0 / 8);
}

TEST(JobEnergy, LeavesEvaluationsOut) {
  Rig rig;
  rig.options.evaluate_every = 1;  // every step is a separate span
  JobEnergy energy(meter(), "host", *rig.control);
  for (const auto& result : run(rig, energy)) EXPECT_DOUBLE_EQ(result.joules_per_step.value(), 8 * 5.0 / 8);
}

TEST(JobEnergy, HasNoFigureOnceACounterIsGone) {
  Rig rig;
  const bool last = rig.control->rank() + 1 == rig.control->size();
  // Two methods have four blocks of two readings, and evaluations begin four spans more. The end of the last span with
  // steps is the 19th reading.
  for (const int readings : {5, 14, 18}) {
    JobEnergy energy(meter(last ? readings : 1000), own_host(*rig.control), *rig.control);
    const auto results = run(rig, energy);
    EXPECT_EQ(results[0].joules_per_step.has_value(), readings == 18) << "the first method ends with the 16th reading";
    EXPECT_EQ(results[1].joules_per_step, std::nullopt) << readings;
  }
}

TEST(JobEnergy, IsNotCountedWhereNobodyAsks) {
  Rig rig;
  for (const auto& result : rig.run("fp32")) EXPECT_EQ(result.joules_per_step, std::nullopt);
}

}  // namespace energy_test
}  // namespace gradcomp::train::test
