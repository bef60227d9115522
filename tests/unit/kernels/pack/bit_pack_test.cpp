// For every width and tail, unpacking is the inverse of packing, row by row and in eights. Exactly ceil(n bits / 8)
// bytes are used, and the words are those of a serial description of the format.
#include "gradcomp/kernels/pack/bit_pack.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace gradcomp::kernels {

using Bytes = Vector<std::uint8_t>;

struct Packed {
  Vector<std::uint32_t> words;
  Bytes tail;
};

// These are free functions, because nvcc refuses device lambdas inside the bodies of tests.
// Packs eight rows at a time if `together`.
Packed pack(const Bytes& codes, int bits, bool together = true) {
  const CodeBlock block(bits);
  const auto n = static_cast<index_t>(codes.size());
  const index_t whole = block.whole(n);
  Packed packed{Vector<std::uint32_t>("words", static_cast<std::size_t>(block.word_count(n))),
                Bytes("tail", static_cast<std::size_t>(block.tail_bytes(n)))};
  for_warps(
      "gradcomp::tests::pack", Exec(), 1, KOKKOS_LAMBDA(const Warp& warp, index_t) {
        RowPacker packer{packed.words.data(), bits};
        index_t e = 0;
        for (; together && e + code_rows * warp_lanes <= whole; e += code_rows * warp_lanes) {
          Lanes<std::uint32_t> code[code_rows];
          GRADCOMP_UNROLL
          for (int row = 0; row < code_rows; ++row)
            warp.each([&](int l) { code[row][l] = codes(e + row * warp_lanes + l); });
          pack_rows(warp, packer, code);
        }
        for (; e < whole; e += warp_lanes) {
          Lanes<std::uint32_t> code;
          warp.each([&](int l) { code[l] = codes(e + l); });
          packer.push(warp, code);
        }
      });
  Kokkos::parallel_for(
      "gradcomp::tests::tail", IndexRange(0, static_cast<index_t>(packed.tail.size())),
      KOKKOS_LAMBDA(index_t j) { packed.tail(j) = tail_byte(codes.data() + whole, n - whole, bits, j); });
  Kokkos::fence();
  return packed;
}

Bytes unpack(const Packed& packed, index_t n, int bits, bool together = true) {
  const CodeBlock block(bits);
  const index_t whole = block.whole(n);
  const Bytes codes("codes", static_cast<std::size_t>(n));
  for_warps(
      "gradcomp::tests::unpack", Exec(), 1, KOKKOS_LAMBDA(const Warp& warp, index_t) {
        RowUnpacker unpacker{packed.words.data(), bits};
        index_t e = 0;
        for (; together && e + code_rows * warp_lanes <= whole; e += code_rows * warp_lanes) {
          unpack_rows(warp, unpacker, [&](int l, std::uint32_t code, int row) {
            codes(e + row * warp_lanes + l) = static_cast<std::uint8_t>(code);
          });
        }
        for (; e < whole; e += warp_lanes) {
          Lanes<std::uint32_t> code;
          unpacker.pull(warp, code);
          warp.each([&](int l) { codes(e + l) = static_cast<std::uint8_t>(code[l]); });
        }
      });
  Kokkos::parallel_for(
      "gradcomp::tests::untail", IndexRange(whole, n), KOKKOS_LAMBDA(index_t i) {
        codes(i) = static_cast<std::uint8_t>(tail_code(packed.tail.data(), bits, i - whole));
      });
  Kokkos::fence();
  return codes;
}

namespace bit_pack_test {

Bytes random_codes(index_t n, int bits, unsigned seed) {
  std::mt19937 engine(seed);
  Bytes codes("codes", static_cast<std::size_t>(n));
  const auto host = Kokkos::create_mirror_view(codes);
  for (std::size_t i = 0; i < host.size(); ++i) host(i) = static_cast<std::uint8_t>(engine() & ((1u << bits) - 1u));
  Kokkos::deep_copy(codes, host);
  return codes;
}

std::vector<index_t> sizes() {
  std::vector<index_t> list{1023, 1024, 1025, 4095, 4096, 4097};
  for (index_t n = 0; n <= 130; ++n) list.push_back(n);
  return list;
}

TEST(BitPack, RoundTripInExactlyTheBytesOfTheFormula) {
  for (int bits = 1; bits <= 8; ++bits) {
    for (const index_t n : sizes()) {
      const Bytes codes = random_codes(n, bits, static_cast<unsigned>(n));
      const auto expected = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), codes);
      for (const bool together : {false, true}) {
        const Packed packed = pack(codes, bits, !together);
        ASSERT_EQ(static_cast<index_t>(4 * packed.words.size() + packed.tail.size()), (n * bits + 7) / 8);
        const auto result = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), unpack(packed, n, bits, together));
        for (std::size_t i = 0; i < result.size(); ++i)
          ASSERT_EQ(result(i), expected(i)) << bits << " " << n << " " << i << " " << together;
      }
    }
  }
}

// By the serial description, bit k of code (block, row, lane) is bit (row * bits + k) of the string of the lane.
TEST(BitPack, WordsAreVertical) {
  for (int bits = 1; bits <= 8; ++bits) {
    const CodeBlock block(bits);
    const index_t n = 3 * block.codes();
    const Bytes codes = random_codes(n, bits, 5);
    const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), codes);
    for (const bool together : {false, true}) {
      const auto words = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), pack(codes, bits, together).words);
      for (index_t i = 0; i < n; ++i) {
        const index_t b = i / block.codes(), row = i % block.codes() / 32, lane = i % 32;
        for (int k = 0; k < bits; ++k) {
          const index_t bit = row * bits + k;
          const auto word = words(static_cast<std::size_t>((b * block.words + bit / 32) * 32 + lane));
          ASSERT_EQ((word >> (bit % 32)) & 1u, (host(static_cast<std::size_t>(i)) >> k) & 1u) << bits << " " << i;
        }
      }
    }
  }
}

TEST(BitPack, TailsAreLeastSignificantBitFirst) {
  const std::uint8_t codes[3] = {0b101, 0b011, 0b110};
  EXPECT_EQ(tail_byte(codes, 3, 3, 0), 0b10011101);
  EXPECT_EQ(tail_byte(codes, 3, 3, 1), 0b1);
}

}  // namespace bit_pack_test
}  // namespace gradcomp::kernels
