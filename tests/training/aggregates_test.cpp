// Sums over ranks of losses and hits of the test set, compared with sums by hand and with one rank that sees the whole
// set.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "gradcomp/comm/over_ranks.hpp"
#include "gradcomp/comm/transports/self.hpp"
#include "gradcomp/measure/density.hpp"
#include "training/rig.hpp"

namespace gradcomp::train::test {
namespace aggregates_test {

TEST(SumOverRanks, EveryFigureOfALossIsSummed) {
  const auto comm = world();
  const index_t rank = comm->rank(), ranks = comm->size();
  const nn::Loss all = sum_over_ranks(*comm, nn::Loss{1.5 + static_cast<double>(rank), 2 + rank, 4 + rank});
  const index_t later = ranks * (ranks - 1) / 2;  // 0 + 1 + ... + (ranks - 1)
  EXPECT_NEAR(all.sum, 1.5 * static_cast<double>(ranks) + static_cast<double>(later), 1e-9);
  EXPECT_EQ(all.correct, 2 * ranks + later);
  EXPECT_EQ(all.count, 4 * ranks + later);
}

TEST(SumOverRanks, OneRankThatDivergedIsSeenByAll) {
  const auto comm = world();
  for (const double bad : {std::numeric_limits<double>::quiet_NaN(), 1.1e12, -1.1e12}) {
    const bool last = comm->rank() + 1 == comm->size();
    const nn::Loss all = sum_over_ranks(*comm, nn::Loss{last ? bad : 3.0, 2, 4});
    EXPECT_TRUE(std::isnan(all.sum)) << bad;
    EXPECT_EQ(all.correct, 2 * comm->size());
    EXPECT_EQ(all.count, 4 * comm->size());
  }
  EXPECT_NEAR(sum_over_ranks(*comm, nn::Loss{0.9e12, 0, 1}).sum, 0.9e12 * comm->size(), 1);
}

TEST(DensityMedian, IsTheLowestAndTheHighestOfTheRanksMedians) {
  const auto comm = world();
  const double own = 1 + comm->rank();
  const DensityMedian median = density_median(*comm, {own, 0.25, own, 9});
  EXPECT_DOUBLE_EQ(median.lowest, 1);
  EXPECT_DOUBLE_EQ(median.highest, comm->size());
  EXPECT_EQ(median.samples, 4);
  const DensityMedian none = density_median(*comm, {});
  EXPECT_TRUE(none.lowest == 0 && none.highest == 0 && none.samples == 0);
  const bool first = comm->rank() == 0;  // the others have none, like dedicated servers
  const DensityMedian alone = density_median(*comm, first ? std::vector{0.5, 0.5, 2.0} : std::vector<double>());
  EXPECT_EQ(alone.lowest, 0.5);
  EXPECT_EQ(alone.highest, 0.5);
  EXPECT_EQ(alone.samples, 3);
}

TEST(EvaluateHeldOut, HasTheSameLossHoweverTheSetIsShared) {
  Rig rig;
  const Exec exec;
  Vector<float> parameters("parameters", rig.model->layout().count()), buffers("buffers", rig.model->buffer_count());
  const auto host_parameters = Kokkos::create_mirror_view(parameters),
             host_buffers = Kokkos::create_mirror_view(buffers);
  rig.model->initialise(3, host_parameters, host_buffers);
  Kokkos::deep_copy(parameters, host_parameters);
  Kokkos::deep_copy(buffers, host_buffers);
  const auto alone = make_self();
  const Job shared = rig.job(), whole{rig.options, *rig.task, *rig.model, *alone, *alone};
  nn::DeviceBatch device;
  for (const auto& [split, count] : {std::pair{data::Split::test, 21}, {data::Split::validation, 17}}) {
    const nn::Loss sum = evaluate_held_out(exec, shared, split, device, parameters, buffers);
    const nn::Loss expected = evaluate_held_out(exec, whole, split, device, parameters, buffers);
    EXPECT_EQ(sum.count, count);
    EXPECT_EQ(expected.count, count);
    EXPECT_EQ(sum.correct, expected.correct);
    EXPECT_GT(expected.sum, 0);
    EXPECT_NEAR(sum.sum, expected.sum, 1e-4 * expected.sum);
  }
}

TEST(Trainer, EveryRankReportsTheFiguresOfAll) {
  Rig rig;
  const auto same = [&](double value) {
    return equal_over_ranks(*rig.control, Kokkos::bit_cast<std::uint64_t>(value));
  };
  for (const auto& r : rig.run("fp32,top_k")) {
    EXPECT_TRUE(same(r.test_loss) && same(r.test_quality) && same(r.test_accuracy));
    EXPECT_TRUE(same(r.validation_loss) && same(r.validation_quality));
    for (const double loss : r.curve.loss) EXPECT_TRUE(same(loss)) << "all ranks must report the loss over all ranks";
    for (const double ms : r.step_ms) EXPECT_TRUE(same(ms)) << "all ranks must report the time of the slowest rank";
    EXPECT_TRUE(same(r.wire_bytes) && same(r.payload_bytes));
  }
}

}  // namespace aggregates_test
}  // namespace gradcomp::train::test
