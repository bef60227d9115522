// Bytes of one step of published models, from their shapes: the tables of Vogels et al. 2019 (appendix) in bytes, and
// what one buffer or one tensor at a time costs with other methods.
#include <gtest/gtest.h>

#include "gradcomp/compressors/detail/spectrum.hpp"
#include "gradcomp/exchange/spec.hpp"
#include "gradcomp/nn/shapes.hpp"

namespace gradcomp {
namespace {

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

// the table of Vogels et al. has 113 MB per epoch of 24 steps: two triples of every tensor, vectors among them
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
        Row{"terngrad:code=2bit:granularity=bucket", 2793495, 67435},
        Row{"terngrad:code=2bit:granularity=tensor", 2793739, 67667},
        Row{"qsgd:levels=7:granularity=bucket", 5674281, 136969},
        Row{"qsgd:levels=7:granularity=tensor", 5674369, 137129},
        Row{"natural:granularity=bucket", 11173962, 269722}}) {
    EXPECT_EQ(step_bytes("resnet18", row.method), row.resnet18) << row.method;
    EXPECT_EQ(step_bytes("resnet20", row.method), row.resnet20) << row.method;
  }
}

}  // namespace
}  // namespace gradcomp
