// Bytes of one step of published models, from their shapes: the tables of Vogels et al. 2019 (appendix) in bytes, and
// the bytes of other methods with granularity=bucket and granularity=tensor.
#include <gtest/gtest.h>

#include "gradcomp/comm/transports/self.hpp"
#include "gradcomp/compressors/detail/low_rank/spectrum.hpp"
#include "gradcomp/exchange/exchange.hpp"
#include "gradcomp/method/spec.hpp"
#include "gradcomp/nn/networks/shapes.hpp"

namespace gradcomp {
namespace model_bytes_test {

index_t step_bytes(const std::string& model, const std::string& text) {
  const MethodSpec method = parse_method(text);
  const Layout layout = nn::model_shapes(model);
  const bool fuse = method.common.text("granularity") == "bucket";
  return method.compressor->payload_bytes(fuse ? layout.fused() : layout, 0);
}

TEST(ModelBytes, OfPowerSgdAreThoseOfTheAuthors) {
  struct Row {
    const char* model;
    index_t dense, rank1, rank2, rank4;
  };
  for (const Row& row :
       {Row{"resnet18", 44695848, 183740, 329040, 619640}, Row{"lstm_3x650", 115797276, 373952, 570028, 962180},
        Row{"resnet20", 1078888, 31164, 56784, 108024}, Row{"resnet20_b", 1089896, 32508, 58704, 111096}}) {
    EXPECT_EQ(step_bytes(row.model, "fp32"), row.dense) << row.model;
    EXPECT_EQ(step_bytes(row.model, "powersgd:rank=1"), row.rank1) << row.model;
    EXPECT_EQ(step_bytes(row.model, "powersgd:rank=2"), row.rank2) << row.model;
    EXPECT_EQ(step_bytes(row.model, "powersgd:rank=4"), row.rank4) << row.model;
  }
  EXPECT_NEAR(static_cast<double>(24 * step_bytes("resnet18", "powersgd:rank=7")) / (1 << 20), 24.16, 0.005);
}

/// The authors' matrices n x m, where n is the number of outputs, and the elements of all vectors.
struct Published {
  struct Matrices {
    index_t number, n, m;
  };
  const char* model;
  std::vector<Matrices> matrices;
  index_t vectors;

  /// 4 (rank x the rows or columns of all matrices + vectors)
  index_t bytes(index_t rank, bool rows) const {
    index_t sum = vectors;
    for (const Matrices& s : matrices) sum += s.number * rank * (rows ? s.n : s.m);
    return 4 * sum;
  }
};

const std::vector<Published>& published() {
  static const std::vector<Published> models = {
      {"resnet18",
       {{1, 64, 27},
        {4, 64, 576},
        {1, 128, 576},
        {3, 128, 1152},
        {1, 128, 64},
        {1, 256, 1152},
        {3, 256, 2304},
        {1, 256, 128},
        {1, 512, 2304},
        {3, 512, 4608},
        {1, 512, 256},
        {1, 10, 512}},
       9610},
      {"lstm_3x650", {{1, 28869, 650}, {6, 2600, 650}}, 44469},
      {"resnet20",
       {{1, 16, 27}, {6, 16, 144}, {1, 32, 144}, {5, 32, 288}, {1, 64, 288}, {5, 64, 576}, {1, 10, 64}},
       1386},
  };
  return models;
}

// A random factor for the authors' columns (side=fixed), or for columns and rows in turn, as in their released runs.
TEST(ModelBytes, OfUnbiasedLowRankAreThoseOfTheAuthors) {
  const std::string unbiased = "powersgd:variant=unbiased:matrix=authors:rank=";
  for (const Published& model : published()) {
    for (const index_t rank : {1, 2, 4}) {
      const index_t rows = model.bytes(rank, true), columns = model.bytes(rank, false);
      const std::string method = unbiased + std::to_string(rank);
      EXPECT_EQ(step_bytes(model.model, method), rows) << model.model;
      EXPECT_EQ(step_bytes(model.model, method + ":side=alternating"), std::max(rows, columns)) << model.model;
    }
  }
  EXPECT_EQ(step_bytes("resnet18", "powersgd:variant=unbiased:rank=1"), published()[0].bytes(1, false))
      << "outputs come last, so that all filters are transposed";
  // MiB in an epoch of 24 steps: 2.54 and 4.21 in turn (3 and 4 in the paper's table), 1.32 and 1.76 with one factor.
  const auto epoch = [](double bytes) { return 24 * bytes / (1 << 20); };
  const auto mean = [&](index_t rank) {
    return 0.5 * static_cast<double>(published()[0].bytes(rank, true) + published()[0].bytes(rank, false));
  };
  EXPECT_NEAR(epoch(mean(1)), 2.54, 0.005);
  EXPECT_NEAR(epoch(mean(2)), 4.21, 0.005);
  EXPECT_NEAR(epoch(static_cast<double>(step_bytes("resnet18", unbiased + "1"))), 1.32, 0.005);
  EXPECT_NEAR(epoch(static_cast<double>(step_bytes("resnet18", unbiased + "2"))), 1.76, 0.005);
}

TEST(ModelBytes, OfUnbiasedLowRankInTurnAreWhatTravels) {
  const Published& model = published()[2];
  const Layout layout = nn::model_shapes(model.model);
  const auto comm = make_self();
  for (const index_t rank : {1, 2}) {
    const auto method =
        parse_method("powersgd:variant=unbiased:matrix=authors:side=alternating:rank=" + std::to_string(rank));
    const auto exchange = make_exchange(method, layout, *comm, {});
    const Vector<float> gradient("gradient", static_cast<std::size_t>(layout.count())), mean("mean", gradient.size());
    for (std::int64_t step = 0; step < 4; ++step) {
      exchange->begin(Exec(), gradient, mean, {1, step}, nullptr);
      exchange->finish(Exec());
      EXPECT_EQ(exchange->report().payload_bytes, model.bytes(rank, step % 2 == 0));
    }
  }
}

// The table of Vogels et al. has 113 MB per epoch of 24 steps: two triples of every tensor, including vectors.
TEST(ModelBytes, OfAtomoWithTwoTriplesOfEveryTensor) {
  index_t floats = 0;
  for (const auto& segment : nn::model_shapes("resnet18").segments) {
    const auto matrix = compressors::spectral_shape(segment);
    floats += 2 * (matrix.rows + matrix.columns + 1);
  }
  EXPECT_EQ(4 * floats, 4940168);
}

TEST(ModelBytes, OfQuantisersAreThoseOfOneBufferOrOneTensorAtATime) {
  struct Row {
    const char* method;
    index_t resnet18, resnet20;
  };
  for (const Row& row :
       {Row{"fp16", 22347924, 539444}, Row{"fp8_e4m3:granularity=bucket", 11173966, 269726},
        Row{"fp8_e4m3:granularity=tensor", 11174210, 269958}, Row{"signum:granularity=bucket", 1396748, 33716},
        Row{"ef_sign:granularity=bucket", 1396752, 33720}, Row{"ef_sign:granularity=tensor", 1396996, 33984},
        Row{"terngrad:code=2bit:granularity=bucket", 2793495, 67435}, Row{"terngrad:code=2bit", 2793739, 67667},
        Row{"linear_dithering", 11174210, 269958}, Row{"natural_dithering", 5587229, 135097},
        Row{"qsgd:levels=7:granularity=bucket", 5674281, 136969},
        Row{"qsgd:levels=7:granularity=tensor", 5674369, 137129},
        Row{"natural:granularity=bucket", 11173962, 269722}}) {
    EXPECT_EQ(step_bytes("resnet18", row.method), row.resnet18) << row.method;
    EXPECT_EQ(step_bytes("resnet20", row.method), row.resnet20) << row.method;
  }
}

}  // namespace model_bytes_test
}  // namespace gradcomp
