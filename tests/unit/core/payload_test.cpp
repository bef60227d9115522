#include "gradcomp/core/payload.hpp"

#include <gtest/gtest.h>

#include <cstring>

namespace gradcomp {
namespace {

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

}  // namespace

TEST(Payload, HeaderTravelsUnchanged) {
  const PayloadHeader header = read(payload(40), 40), sent = example();
  EXPECT_EQ(0, std::memcmp(&header, &sent, sizeof(header)));
  EXPECT_FALSE(header.skip());
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

TEST(Payload, AFlagStandsAlone) {
  const Exec exec;
  Verdict verdict;
  const auto skipped = [&] {
    verdict.fetch(exec);
    return verdict.skipped();
  };
  PayloadHeader header = example();
  EXPECT_FALSE(take_flag(exec, header, 80, "method", verdict));
  header.flags = PayloadHeader::flag_skip;
  EXPECT_THROW(take_flag(exec, header, 0, "method", verdict), Error) << "entries";
  header.kept = 0;
  EXPECT_THROW(take_flag(exec, header, 4, "method", verdict), Error) << "sections";
  header.flags |= 2;
  EXPECT_THROW(take_flag(exec, header, 0, "method", verdict), Error) << "another flag";
  EXPECT_FALSE(skipped());
  header.flags = PayloadHeader::flag_skip;
  EXPECT_TRUE(take_flag(exec, header, 0, "method", verdict));
  EXPECT_TRUE(skipped());
}

TEST(Payload, TextHashIsFnv1a) {
  EXPECT_EQ(text_hash(""), 0x811c9dc5u);
  EXPECT_EQ(text_hash("a"), 0xe40c292cu);
  EXPECT_EQ(text_hash("foobar"), 0xbf9cf968u);
}

}  // namespace gradcomp
