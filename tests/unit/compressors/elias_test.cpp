// coding=elias of qsgd and the dithering methods changes the bytes, but not the values.
#include "gradcomp/compressors/detail/levels/elias_stage.hpp"
#include "unit/compressors/composition_rig.hpp"

namespace gradcomp::compositions {
namespace elias_test {

using compressors::flag_elias;

struct Case {
  const char* name;
  Given given;
};

const std::vector<Case>& cases() {
  static const std::vector<Case> list = {
      {"qsgd", {}},
      {"qsgd", {{"bits", "8"}}},
      {"qsgd", {{"levels", "1"}, {"group", "64"}}},
      {"qsgd", {{"levels", "22"}, {"group", "8192"}, {"norm", "max"}}},
      {"linear_dithering", {{"bits", "3"}}},
      {"linear_dithering", {{"levels", "127"}, {"group", "256"}, {"norm", "l2"}}},
      {"natural_dithering", {}},
      {"natural_dithering", {{"bits", "8"}, {"group", "8192"}}},
  };
  return list;
}

Method with_coding(const Case& c, const char* coding) {
  Given given = c.given;
  given["coding"] = coding;
  return make(c.name, given);
}

/// Normal values, of which a share is zero.
Floats sparse_values(index_t n, unsigned seed, float share) {
  Floats x = normal_values(n, seed);
  const Floats gate = normal_values(n, seed + 1000);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = gate[i] < share ? x[i] : 0.0f;
  return x;
}

TEST(EliasCoding, ChangesBytesOnly) {
  int coded = 0, plain = 0;
  for (const Case& c : cases()) {
    for (const bool residual : {false, true}) {
      SCOPED_TRACE(c.name);
      Rig fixed(with_coding(c, "fixed"), three_tensors(), residual);
      Rig elias(with_coding(c, "elias"), three_tensors(), residual);
      for (int step = 0; step < 3; ++step) {
        const Floats g = sparse_values(fixed.layout.count(), static_cast<unsigned>(step), 2.0f - 2 * step);
        const Floats expected = fixed.step(g, step);
        EXPECT_EQ(elias.step(g, step), expected);
        EXPECT_EQ(elias.memory, fixed.memory);
        EXPECT_LE(elias.message.size, fixed.message.size);
        EXPECT_EQ(elias.message.size < fixed.message.size, (elias.header().flags & flag_elias) != 0);
        (elias.header().flags != 0 ? coded : plain) += 1;
      }
    }
  }
  EXPECT_GE(coded, 20);
  EXPECT_GE(plain, 3);
}

TEST(EliasCoding, EverySize) {
  for (const index_t n : quantisers::sizes()) {
    Layout mixed;
    mixed.add("a", {n}).add("empty", {0}).add("b", {7, 3}).add("c", {1}).add("d", {n + 1});
    for (const Case& c : cases()) {
      if (n % 7 != 0 && &c != &cases()[static_cast<std::size_t>(n) % cases().size()]) continue;
      Rig fixed(with_coding(c, "fixed"), mixed, false), elias(with_coding(c, "elias"), mixed, false);
      const Floats g = sparse_values(mixed.count(), static_cast<unsigned>(n), -1);
      ASSERT_EQ(elias.step(g), fixed.step(g)) << c.name << " " << n;
    }
  }
}

// The bound of section 3.1 of the paper for s = sqrt(B) is 2.8 + 32 / B bits per element. Our format adds 32 bits for
// the length of a stream, and up to 31 bits to the end of its last word.
TEST(EliasCoding, BitsOfQsgdAtTheSquareRootOfItsBucket) {
  struct Size {
    const char *bucket, *levels;
    double elements;
  };
  for (const Size& size : {Size{"256", "16", 256}, Size{"512", "22", 512}, Size{"4096", "64", 4096}}) {
    const index_t n = 1 << 17;
    Rig rig(make("qsgd", {{"group", size.bucket}, {"levels", size.levels}, {"coding", "elias"}}), Layout::flat(n),
            false);
    rig.step(normal_values(n, 3));
    const double bits = 8.0 * static_cast<double>(rig.message.size - payload_header_bytes) / static_cast<double>(n);
    EXPECT_LT(bits, 2.8 + 32 / size.elements + (32 + 16) / size.elements) << size.bucket;
    EXPECT_GT(bits, 1.5) << "a normal variable rounded to its own deviation has more entropy";
  }
}

TEST(EliasCoding, HeadersAreThoseOfTheirOptions) {
  Rig fixed(make("qsgd", {{"coding", "fixed"}}), Layout::flat(5000), false);
  Rig elias(make("qsgd", {{"coding", "elias"}}), Layout::flat(5000), false);
  const Floats g = normal_values(5000, 1);
  fixed.step(g);
  elias.step(g);
  EXPECT_THROW(fixed.decode(elias.payload()), Error);
  EXPECT_THROW(elias.decode(fixed.payload()), Error);
}

TEST(EliasCoding, StreamsThatLieAreRefused) {
  for (const Case& c : cases()) {
    SCOPED_TRACE(c.name);
    Rig rig(with_coding(c, "elias"), Layout::flat(9000), false);
    const Floats g = sparse_values(9000, 1, -1), d = rig.step(g);
    ASSERT_EQ(rig.header().flags, flag_elias);
    const Bytes good = rig.payload();
    const auto refused = [&](const std::function<void(Bytes&)>& spoil) {
      Bytes bad = good;
      spoil(bad);
      try {
        rig.decode(bad);
        return false;
      } catch (const Error&) {
        return true;
      }
    };
    const auto add = [](Bytes& b, std::size_t at, std::uint32_t change) {
      std::uint32_t word = 0;
      std::memcpy(&word, b.data() + at, 4);
      word += change;
      std::memcpy(b.data() + at, &word, 4);
    };
    const std::size_t bucket = c.given.contains("group")       ? std::stoul(c.given.at("group"))
                               : std::string(c.name) == "qsgd" ? 512
                                                               : 9000;
    const std::size_t bits = 32 + 4 * ((9000 + bucket - 1) / bucket);  // position of the first stream
    for (const std::uint32_t change : {1u, ~0u, 32u, 0x80000000u})
      EXPECT_TRUE(refused([&](Bytes& b) { add(b, bits, change); })) << change;
    EXPECT_TRUE(refused([&](Bytes& b) { b.resize(b.size() - 4); }));
    EXPECT_TRUE(refused([&](Bytes& b) { b.resize(b.size() + 4); }));
    EXPECT_TRUE(refused([&](Bytes& b) { b.resize(bits); }));
    const float norm = -1;
    EXPECT_TRUE(refused([&](Bytes& b) { std::memcpy(b.data() + 32, &norm, 4); }));
    EXPECT_TRUE(refused([&](Bytes& b) { b.back() |= std::byte{0x80}; })) << "padding";
    std::mt19937 engine(1);
    for (int trial = 0; trial < 300; ++trial) {
      refused([&](Bytes& b) { b[engine() % b.size()] ^= static_cast<std::byte>(1u << engine() % 8); });
    }
    EXPECT_EQ(rig.decode(good), d);
  }
}

TEST(EliasCoding, NoValueCoderButOneForHuffman) {
  EXPECT_THROW(hybrid(make("top_k"), make("qsgd", {{"coding", "elias"}})), Error);
  Rig rig(huffman(make("qsgd", {{"coding", "elias"}})), Layout::flat(5000), false);
  Rig inner(make("qsgd", {{"coding", "elias"}}), Layout::flat(5000), false);
  const Floats g = normal_values(5000, 1);
  EXPECT_EQ(rig.step(g), inner.step(g));
}

}  // namespace elias_test
}  // namespace gradcomp::compositions
