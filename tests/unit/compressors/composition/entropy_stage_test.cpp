#include "gradcomp/compressors/composition/entropy_stage.hpp"

#include "unit/compressors/composition_rig.hpp"

namespace gradcomp::compositions {
namespace entropy_stage_test {

using compressors::flag_huffman;

std::vector<Method> inner_methods() {
  return {make("qsgd"),
          make("top_k", {{"ratio", "0.2"}, {"index", "delta"}}),
          make("int8_block"),
          make("ef_sign"),
          make("hard_threshold", {{"lambda", "1.5"}}),
          make("strom", {{"tau", "1"}}),
          make("fp8_e5m2"),
          hybrid(make("top_k", {{"ratio", "0.5"}}), make("qsgd"))};
}

TEST(EntropyStage, ChangesBytesOnly) {
  int coded = 0;
  for (const Method& inner : inner_methods()) {
    SCOPED_TRACE(inner->info().name);
    Rig plain(inner, three_tensors(), true), staged(huffman(inner), three_tensors(), true);
    for (int step = 0; step < 4; ++step) {
      const Floats g = normal_values(plain.layout.count(), static_cast<unsigned>(step));
      EXPECT_EQ(staged.step(g, step), plain.step(g, step));
      EXPECT_EQ(staged.memory, plain.memory);
      EXPECT_LE(staged.message.size, plain.message.size);
      EXPECT_EQ(staged.header().kept, plain.header().kept);
      EXPECT_EQ(staged.state->kept, plain.state->kept);
      const bool has_codes = (staged.header().flags & flag_huffman) != 0;
      EXPECT_EQ(staged.message.size < plain.message.size, has_codes);
      coded += has_codes ? 1 : 0;
    }
  }
  EXPECT_GE(coded, 16);
}

TEST(EntropyStage, WhatDoesNotShrinkIsSentAsItIs) {
  Rig plain(make("qsgd"), Layout::flat(20), false), staged(huffman(make("qsgd")), Layout::flat(20), false);
  const Floats g = normal_values(20, 1);
  EXPECT_EQ(staged.step(g), plain.step(g));
  EXPECT_EQ(staged.header().flags, 0u);
  const Bytes a = plain.payload(), b = staged.payload();
  EXPECT_TRUE(std::equal(a.begin() + payload_header_bytes, a.end(), b.begin() + payload_header_bytes, b.end()));
}

TEST(EntropyStage, PeersWithOtherPartsAreRefused) {
  const Floats g = normal_values(5000, 1);
  Rig rig(huffman(make("qsgd")), Layout::flat(5000), false), plain(make("qsgd"), Layout::flat(5000), false);
  Rig other(huffman(make("qsgd", {{"norm", "max"}})), Layout::flat(5000), false);
  rig.step(g);
  plain.step(g);
  other.step(g);
  EXPECT_THROW(rig.decode(other.payload()), Error);
  EXPECT_THROW(rig.decode(plain.payload()), Error);
  EXPECT_THROW(plain.decode(rig.payload()), Error);
}

TEST(EntropyStage, FlagsThatLieAreRefused) {
  const Floats g = normal_values(5000, 1);
  Rig rig(huffman(make("qsgd")), Layout::flat(5000), false);
  rig.step(g);
  ASSERT_NE(rig.header().flags & flag_huffman, 0u);
  Bytes bad = rig.payload();
  PayloadHeader head = rig.header();
  head.flags &= ~flag_huffman;
  std::memcpy(bad.data(), &head, sizeof(head));
  EXPECT_THROW(rig.decode(bad), Error);
}

TEST(EntropyStage, OnlyOneRoundOfBytes) {
  for (const char* name : {"fp32", "powersgd", "terngrad", "no_exchange"})
    EXPECT_THROW(huffman(make(name)), Error) << name;
  EXPECT_EQ(huffman(make("top_k"))->info().reducer, "allgather");
  EXPECT_FALSE(huffman(make("top_k"))->info().sparse) << "reducers cannot read the entries on their way";
  EXPECT_EQ(huffman(make("top_k"))->max_kept(Layout::flat(100)), 0) << "entries cannot be merged";
}

}  // namespace entropy_stage_test
}  // namespace gradcomp::compositions
