// two_phase with peers that send what this rank sends, some of it spoilt. Neither phase may trust what it receives.
#include <gtest/gtest.h>

#include <cmath>

#include "gradcomp/exchange/reduction.hpp"
#include "gradcomp/method/spec.hpp"
#include "unit/comm/fake_transport.hpp"

namespace gradcomp {
namespace two_phase_test {

constexpr index_t elements = 3 * 8192;

struct Rig {
  explicit Rig(const std::string& text)
      : comm(3, 1),
        spec(parse_method(text + ":reducer=two_phase:feedback=none")),
        reduction(spec, Layout::flat(elements), comm, faults),
        gradient("gradient", elements),
        out("out", elements) {
    const auto values = Kokkos::create_mirror_view(gradient);
    for (std::size_t i = 0; i < elements; ++i) values(i) = std::sin(static_cast<float>(i));
    Kokkos::deep_copy(gradient, values);
  }

  /// Returns false if a payload is flagged. Throws Error if one is broken.
  bool step() {
    EXPECT_EQ(reduction.rounds(), 2);
    faults.reset(Exec());
    reduction.begin(Exec(), gradient, out, {1, 0, 1, 3}, nullptr);
    reduce(reduction, Exec());
    faults.fetch(Exec());
    return !faults.diverged();
  }
  bool refuses() {
    try {
      step();
    } catch (const Error&) {
      return true;
    }
    return false;
  }

  test::FakeTransport comm;
  MethodSpec spec;
  Faults faults;
  Reduction reduction;
  Vector<float> gradient, out;
};

class Spoilt : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(TwoPhase, Spoilt, testing::Values("ef_sign", "one_bit", "int8_block", "fp8_e4m3", "qsgd"),
                         [](const auto& row) { return row.param; });

TEST_P(Spoilt, PayloadsAreRefusedInBothPhases) {
  for (const std::string phase : {"alltoallv", "allgatherv"}) {
    for (std::size_t from = 0; from < 3; ++from) {
      Rig rig(GetParam());
      const auto spoil = [&](auto&& change) {
        rig.comm.log->tamper = [&, change](const std::string& call, std::byte* received, Blocks& sizes) {
          if (call == phase) change(received + sizes.offset[from], sizes.size[from]);
        };
        return rig.refuses();
      };
      EXPECT_FALSE(spoil([](std::byte*, index_t&) {})) << "good bytes";
      for (const index_t size : {index_t{0}, index_t{1}, payload_header_bytes - 1, payload_header_bytes})
        EXPECT_TRUE(spoil([&](std::byte*, index_t& bytes) { bytes = size; })) << phase << " " << size;
      EXPECT_TRUE(spoil([](std::byte*, index_t& bytes) { --bytes; })) << phase;
      EXPECT_TRUE(spoil([](std::byte*, index_t& bytes) { ++bytes; })) << phase;
      for (const std::size_t at : {0, 4, 6, 8, 16, 28})  // magic, version, method, elements, entries, options
        EXPECT_TRUE(spoil([&](std::byte* bytes, index_t&) { bytes[at] ^= std::byte{1}; })) << phase << " byte " << at;
      EXPECT_FALSE(spoil([](std::byte*, index_t&) {})) << "a refusal must not change anything";
    }
  }
}

TEST_P(Spoilt, AFlagOfOnePeerIsSeenInEitherPhase) {
  for (const std::string phase : {"alltoallv", "allgatherv"}) {
    for (std::size_t from = 0; from < 3; ++from) {
      Rig rig(GetParam());
      EXPECT_TRUE(rig.step());
      rig.comm.log->tamper = [&](const std::string& call, std::byte* received, Blocks& sizes) {
        if (call != phase) return;
        received[sizes.offset[from] + 24] = std::byte{PayloadHeader::flag_diverged};
      };
      EXPECT_FALSE(rig.step()) << phase;
    }
  }
}

TEST(TwoPhase, BytesAreThoseOfBothPhases) {
  Rig rig("int8_block");
  EXPECT_TRUE(rig.step());
  EXPECT_EQ(rig.reduction.bytes().header, 4 * payload_header_bytes);
  EXPECT_EQ(rig.reduction.bytes().payload, 4 * rig.spec.compressor->payload_bytes(Layout::flat(8192), 0));
  EXPECT_GT(rig.reduction.work_bytes(), 0);
  EXPECT_TRUE(rig.reduction.memories().empty());
}

}  // namespace two_phase_test
}  // namespace gradcomp
