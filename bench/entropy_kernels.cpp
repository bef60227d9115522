// Huffman codes of the bytes that hold sign and exponent, the part of a float gradient that can be compressed without
// loss.
#include <array>
#include <cmath>
#include <cstring>
#include <memory>

#include "gradcomp/coders/huffman.hpp"
#include "kernel.hpp"

namespace gradcomp::bench {
namespace {

constexpr index_t min_symbols = 1024;  ///< for fewer symbols the section's head may be longer than they are

struct Coded {
  explicit Coded(const KernelInput& given)
      : input(given),
        coder(given.count()),
        symbols("gradcomp::bench::symbols", given.gradient.size()),
        section("gradcomp::bench::section", given.gradient.size()),
        decoded("gradcomp::bench::decoded", given.gradient.size()) {
    const auto a = input.host();
    for (const float value : a) {
      std::uint32_t bits = 0;
      std::memcpy(&bits, &value, sizeof bits);
      host.push_back(static_cast<std::byte>(bits >> 24));
    }
    symbols = upload("gradcomp::bench::symbols", host);
    encode();
    require(size > 0, "no code makes the bytes of sign and exponent shorter");
  }
  void encode() { size = coder.encode(input.exec, symbols.data(), input.count(), section.data()); }

  KernelInput input;
  coders::HuffmanCoder coder;
  Vector<std::byte> symbols, section, decoded;
  std::vector<std::byte> host;
  index_t size = 0;
};

/// Decodes a section bit by bit. Codes are canonical: they are numbered in order of length, shortest first.
std::vector<std::byte> plain_decode(const std::vector<std::byte>& section, index_t count) {
  const auto byte = [&](index_t i) { return std::to_integer<unsigned>(section.at(static_cast<std::size_t>(i))); };
  std::array<std::vector<std::byte>, coders::longest_code + 1> of_length;  // symbols ascend
  for (unsigned s = 0; s < 256; ++s) of_length[byte(8 + s / 2) >> (4 * (s % 2)) & 15u].push_back(std::byte(s));
  const index_t chunks = (count + coders::symbols_per_chunk - 1) / coders::symbols_per_chunk;
  const index_t words = coders::huffman_head_bytes + 4 * chunks;
  const auto word_end = [&](index_t chunk) {
    const index_t at = coders::huffman_head_bytes + 4 * chunk;
    return static_cast<index_t>(byte(at) | byte(at + 1) << 8 | byte(at + 2) << 16 | byte(at + 3) << 24);
  };
  std::vector<std::byte> symbols;
  index_t bit = 0;
  while (static_cast<index_t>(symbols.size()) < count) {
    const auto decoded = static_cast<index_t>(symbols.size());
    if (decoded % coders::symbols_per_chunk == 0)
      bit = decoded == 0 ? 0 : 32 * word_end(decoded / coders::symbols_per_chunk - 1);
    std::size_t code = 0, first = 0;
    for (std::size_t length = 1;; ++length) {
      require(length < of_length.size(), "wrong answer: symbol {} has no code", symbols.size());
      code = 2 * code + (byte(words + bit / 8) >> (bit % 8) & 1u);
      ++bit;
      first *= 2;
      if (code - first < of_length[length].size()) {
        symbols.push_back(of_length[length][code - first]);
        break;
      }
      first += of_length[length].size();
    }
  }
  return symbols;
}

void require_symbols(const std::vector<std::byte>& got, const std::vector<std::byte>& expected) {
  for (std::size_t i = 0; i < expected.size(); ++i)
    require(got[i] == expected[i], "wrong answer: symbol {} is {}, expected {}", i, std::to_integer<int>(got[i]),
            std::to_integer<int>(expected[i]));
}

/// Reads one byte per element twice (for counts and codes) and writes the words.
Kernel huffman_encode(const KernelInput& input) {
  const auto own = std::make_shared<Coded>(input);
  const auto check = [=] {
    auto section = to_host(input.exec, own->section);
    section.resize(static_cast<std::size_t>(own->size));
    require_symbols(plain_decode(section, input.count()), own->host);
  };
  const double written = static_cast<double>(own->size) / static_cast<double>(input.count());
  return {(2 + written) / 4, [=] { own->encode(); }, check, {}};
}

Kernel huffman_decode(const KernelInput& input) {
  const auto own = std::make_shared<Coded>(input);
  const auto work = [=] {
    const Span<const std::byte> section(own->section.data(), static_cast<std::size_t>(own->size));
    const index_t count = own->coder.decode(input.exec, section, own->decoded.data());
    require(count == input.count(), "wrong answer: {} symbols decoded", count);
  };
  const auto check = [=] { require_symbols(to_host(input.exec, own->decoded), own->host); };
  const double read = static_cast<double>(own->size) / static_cast<double>(input.count());
  return {(1 + read) / 4, work, check, {}};
}

}  // namespace

std::vector<NamedKernel> entropy_kernels() {
  return {{"huffman_encode", 16, huffman_encode, min_symbols}, {"huffman_decode", 16, huffman_decode, min_symbols}};
}

}  // namespace gradcomp::bench
