// If the State of a value coder serves fewer elements than it was prepared for, bytes and values are those of a State
// that was prepared for fewer elements.
#include "unit/compressors/quantiser_rig.hpp"

namespace gradcomp {
namespace resize_test {

using quantisers::Bytes;
using quantisers::Floats;
using quantisers::Given;
using quantisers::normal_values;
using quantisers::Rig;

struct Case {
  const char* name;
  Given given;
};

const std::vector<Case>& cases() {
  static const std::vector<Case> list = {
      {"qsgd", {}},
      {"qsgd", {{"bits", "8"}, {"group", "8192"}}},
      {"qsgd", {{"levels", "12"}, {"group", "64"}, {"norm", "max"}}},
      {"linear_dithering", {}},
      {"linear_dithering", {{"bits", "3"}, {"group", "256"}}},
      {"natural_dithering", {{"group", "8192"}}},
      {"natural", {}},
      {"natural", {{"bits", "9"}}},
      {"max_min", {}},
      {"max_min", {{"bits", "1"}, {"group", "tensor"}}},
      {"terngrad", {{"code", "2bit"}}},
      {"int8_block", {}},
      {"int8_block", {{"block", "2048"}, {"rounding", "stochastic"}}},
      {"fp8_e4m3", {}},
      {"fp8_e5m2", {{"rounding", "stochastic"}}},
      {"ef_sign", {}},
      {"ef_sign", {{"scale", "l2"}}},
  };
  return list;
}

TEST(Resize, AStateForFewerElementsIsThatOfASmallerLayout) {
  for (const Case& c : cases()) {
    SCOPED_TRACE(std::string(c.name) + (c.given.empty() ? "" : " " + c.given.begin()->second));
    for (const index_t most : {16384, 10007}) {  // with and without a tail
      Rig large(c.name, c.given, Layout::flat(most));
      ASSERT_TRUE(large.method->info().can_resize);
      for (const index_t n : {5000, 0, 1, 31, 512, 4096, 4097, 8192, 10007, 3}) {
        Rig small(c.name, c.given, Layout::flat(n));
        const Floats x = normal_values(n, static_cast<unsigned>(n));
        large.method->resize(Exec(), *large.states[0], n);
        large.layout = Layout::flat(n);
        EXPECT_EQ(large.states[0]->layout.count(), n);
        EXPECT_EQ(large.step(x, 3), small.step(x, 3)) << n;
        EXPECT_EQ(large.payload(), small.payload()) << n;
        EXPECT_EQ(large.messages[0].size, payload_header_bytes + large.method->payload_bytes(Layout::flat(n), n)) << n;
      }
    }
  }
}

TEST(Resize, OtherMethodsRefuse) {
  const Rig rig("one_bit", {}, Layout::flat(10));
  EXPECT_FALSE(rig.method->info().can_resize);
  EXPECT_THROW(rig.method->resize(Exec(), *rig.states[0], 3), Error);
}

}  // namespace resize_test
}  // namespace gradcomp
