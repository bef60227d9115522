#include "gradcomp/core/payload.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "copies.hpp"
#include "gradcomp/core/compressor.hpp"

namespace gradcomp {
namespace payload_test {

PayloadHeader example() {
  PayloadHeader header;
  header.method = 0x1234;
  header.spec = text_hash("ratio=0.01");
  header.elements = 1000;
  header.kept = 10;
  return header;
}

/// A payload of `size` bytes that starts with example().
Vector<std::byte> payload(std::size_t size) {
  const Vector<std::byte> bytes("gradcomp::tests::payload", size);
  write_header(Exec{}, example(), Span<std::byte>(bytes.data(), size));
  return bytes;
}

PayloadHeader read(const Vector<std::byte>& bytes, std::size_t size) {
  return read_header(Exec{}, Span<const std::byte>(bytes.data(), size), example());
}

TEST(Payload, HeaderTravelsUnchanged) {
  const PayloadHeader header = read(payload(40), 40), sent = example();
  EXPECT_EQ(0, std::memcmp(&header, &sent, sizeof(header)));
  EXPECT_FALSE(header.diverged());
}

// The documented layout, byte by byte, because peers with other builds read it.
TEST(Payload, HeaderIsLittleEndianAtFixedOffsets) {
  const auto bytes = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, payload(32));
  const auto at = [&](std::size_t i) { return static_cast<int>(bytes(i)); };
  EXPECT_EQ(std::string({static_cast<char>(at(0)), static_cast<char>(at(1)), static_cast<char>(at(2)),
                         static_cast<char>(at(3))}),
            "!GCP");
  EXPECT_EQ(at(4), 1);
  EXPECT_EQ(at(6), 0x34);
  EXPECT_EQ(at(7), 0x12);
  EXPECT_EQ(at(8) + 256 * at(9), 1000);
  EXPECT_EQ(at(16), 10);
  EXPECT_EQ(at(24), 0);
}

TEST(Payload, WhatDoesNotFitIsRefused) {
  const auto good = payload(64);
  EXPECT_NO_THROW(read(good, 64));
  EXPECT_THROW(read(good, 31), Error);
  EXPECT_THROW(read(good, 0), Error);
  const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, good);
  for (const std::size_t byte : {0, 3, 4, 6, 8, 15, 28, 31}) {  // magic, version, method, elements, spec
    const Vector<std::byte> broken("gradcomp::tests::broken", 64);
    const auto copy = Kokkos::create_mirror(Kokkos::HostSpace{}, broken);
    Kokkos::deep_copy(copy, host);
    copy(byte) ^= std::byte{0x40};
    Kokkos::deep_copy(broken, copy);
    EXPECT_THROW(read(broken, 64), Error) << "byte " << byte;
  }
}

/// Some units of a kernel set the mark.
void set_somewhere(const Mark& mark) {
  Kokkos::parallel_for(
      "gradcomp::tests::mark", IndexRange(Exec(), 0, 1000), KOKKOS_LAMBDA(const index_t i) {
        if (i % 300 == 77) mark.set();
      });
}

TEST(Payload, AMarkFlagsTheHeader) {
  const Vector<std::byte> bytes = payload(40);
  set_somewhere(mark_in(bytes));
  set_somewhere(Mark());
  PayloadHeader header = read(bytes, 40);
  EXPECT_TRUE(header.diverged());
  EXPECT_FALSE(Mark().is_set());
  header.flags = 0;
  const PayloadHeader sent = example();
  EXPECT_EQ(0, std::memcmp(&header, &sent, sizeof(header))) << "the rest of the header changed";
}

/// What an Admission says to 3 units of a kernel that asks it; zeros if there is no launch. On hosts, who launches may
/// settle() it before.
struct Answers {
  std::vector<int> admitted;
  std::vector<index_t> counts;  ///< diverged, broken
  bool is_nan;                  ///< element 0 of `out`, which was 0

  bool operator==(const Answers&) const = default;
};

Answers answers_of(Admission admission, bool settles) {
  const Faults faults;
  const Vector<float> out("gradcomp::tests::out", 1);
  const Vector<int> admitted("gradcomp::tests::admitted", 3);
  admission.faults = faults.counts();
  admission.out = out.data();
  if (!settles || admission.settle()) {
    Kokkos::parallel_for(
        "gradcomp::tests::admit", IndexRange(Exec(), 0, 3),
        KOKKOS_LAMBDA(const index_t i) { admitted(i) = admission.admits(i == 0) ? 1 : 0; });
  }
  return {test::to_host(admitted), test::to_host(faults.counts().at, 2), std::isnan(test::to_host(out)[0])};
}

TEST(Payload, AnAdmissionLetsOnlyTheExpectedHeaderPass) {
  const auto ask = [](std::size_t word, std::uint32_t flipped) {
    std::uint32_t words[8];
    const PayloadHeader header = example();
    std::memcpy(words, &header, sizeof header);
    words[word] ^= flipped;
    const auto device = test::to_device(std::vector<std::uint32_t>(words, words + 8));
    const Answers answers = answers_of({.words = device.data(), .expected = header}, false);
    EXPECT_EQ(answers, answers_of({.words = device.data(), .expected = header}, true));
    return answers;
  };
  const Answers admitted{{1, 1, 1}, {0, 0}, false}, diverged{{0, 0, 0}, {1, 0}, true}, broken{{0, 0, 0}, {0, 1}, false};
  EXPECT_EQ(answers_of({}, false), admitted) << "no header";
  EXPECT_EQ(ask(0, 0), admitted);
  EXPECT_EQ(ask(6, PayloadHeader::flag_diverged), diverged);
  EXPECT_EQ(ask(6, 3), broken) << "another flag";
  for (const std::size_t word : {0, 1, 2, 3, 4, 5, 6, 7}) EXPECT_EQ(ask(word, 0x40000000), broken) << "word " << word;
}

TEST(Payload, AFlagStandsAlone) {
  const Exec exec;
  const Faults faults;
  const Vector<float> out("gradcomp::tests::out", 2);
  Received received{.bytes = payload(36), .faults = faults.counts()};
  EXPECT_THROW(take_flag(exec, received, "method", out), Error) << "sections";
  received.bytes = payload(32);
  take_flag(exec, received, "method", out);
  take_flag(exec, received, "method", {});
  EXPECT_EQ(test::to_host(faults.counts().at, 2), (std::vector<index_t>{2, 0}));
  EXPECT_TRUE(std::isnan(test::to_host(out)[0]));
  EXPECT_EQ(test::to_host(out)[1], 0);
}

TEST(Payload, TextHashIsFnv1a) {
  EXPECT_EQ(text_hash(""), 0x811c9dc5u);
  EXPECT_EQ(text_hash("a"), 0xe40c292cu);
  EXPECT_EQ(text_hash("foobar"), 0xbf9cf968u);
}

}  // namespace payload_test
}  // namespace gradcomp
