// Sections of every index coder, every value coder and of Huffman codes.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>

#include "fuzz/fuzz.hpp"
#include "gradcomp/coders/huffman.hpp"
#include "gradcomp/coders/index_coder.hpp"
#include "gradcomp/coders/value_coder.hpp"
#include "gradcomp/core/copies.hpp"
#include "gradcomp/core/error.hpp"

namespace gradcomp::fuzz {
namespace {

Vector<std::byte> section_of(Input input) {
  Vector<std::byte> section("gradcomp::fuzz::section", input.size());
  if (!input.empty()) std::memcpy(section.data(), input.data(), input.size());  // a host build
  return section;
}

/// What is accepted is exactly what encode() writes for the indices.
void read_indices(const coders::IndexCoderEntry& entry, index_t elements, index_t kept, Input input) {
  const Exec exec;
  const Vector<std::byte> section = section_of(input);
  const coders::IndexCoder coder({&entry}, elements, std::min(kept, elements));
  const Vector<std::uint32_t> indices("gradcomp::fuzz::indices", static_cast<std::size_t>(kept));
  const auto* found =
      coder.decode(exec, entry, Span<const std::byte>(section.data(), section.size()), kept, indices.data());
  const std::vector<std::uint32_t> list(found, found + kept);
  const bool ascending = std::adjacent_find(list.begin(), list.end(), std::greater_equal<>()) == list.end();
  if (!ascending || (kept > 0 && list.back() >= elements)) broken("wrong indices from " + entry.name);
  const Vector<std::byte> again("gradcomp::fuzz::again", static_cast<std::size_t>(coder.capacity_bytes()));
  const coders::Encoded encoded = coder.encode(exec, list.data(), kept, again.data());
  const bool same = encoded.bytes == std::ssize(input) &&
                    std::equal(input.begin(), input.end(), reinterpret_cast<const std::uint8_t*>(again.data()));
  if (!same) broken("a section of " + entry.name + " is not the one that encode() writes");
}

void read_values(const coders::ValueCoderEntry& entry, index_t kept, Input input) {
  const Vector<std::byte> section = section_of(input);
  const Vector<float> values("gradcomp::fuzz::values", static_cast<std::size_t>(kept));
  const float* found =
      coders::decode_values(Exec(), entry, Span<const std::byte>(section.data(), section.size()), kept, values.data());
  if (!std::all_of(found, found + kept, [](float v) { return std::isfinite(v); }))
    broken("values that are not finite from " + entry.name);
}

void read_huffman(index_t capacity, Input input) {
  const Vector<std::byte> section = section_of(input);
  const Vector<std::byte> symbols("gradcomp::fuzz::symbols", static_cast<std::size_t>(capacity));
  coders::HuffmanCoder(capacity).decode(Exec(), Span<const std::byte>(section.data(), section.size()), symbols.data());
}

/// The bytes before a section: its coder, `kept` and `elements`, both of them little endian.
Bytes head(std::size_t coder, index_t kept, index_t elements) {
  Bytes bytes{static_cast<std::uint8_t>(coder)};
  for (int i = 0; i < 2; ++i) bytes.push_back(static_cast<std::uint8_t>(kept >> (8 * i)));
  for (int i = 0; i < 4; ++i) bytes.push_back(static_cast<std::uint8_t>(elements >> (8 * i)));
  return bytes;
}

Bytes seed(const Bytes& before, const Vector<std::byte>& section, index_t bytes) {
  return with_choice(before, {reinterpret_cast<const char*>(section.data()), static_cast<std::size_t>(bytes)});
}

}  // namespace

void read(Input input) {
  const auto& indices = all_index_coders();
  const auto& values = all_value_coders();
  const std::size_t coder = take(input) % (indices.size() + values.size() + 1);
  index_t kept = 0, elements = 0;
  for (int i = 0; i < 2; ++i) kept |= index_t{take(input)} << (8 * i);
  for (int i = 0; i < 4; ++i) elements |= index_t{take(input)} << (8 * i);
  if (coder < indices.size()) return read_indices(indices[coder], elements, kept, input);
  if (coder < indices.size() + values.size()) return read_values(values[coder - indices.size()], kept, input);
  read_huffman(kept, input);
}

std::vector<Bytes> seeds() {
  const Exec exec;
  const auto& indices = all_index_coders();
  const auto& values = all_value_coders();
  std::vector<Bytes> all;
  for (const index_t kept : {0, 1, 40, 700}) {
    for (std::size_t c = 0; c < indices.size(); ++c) {
      for (const index_t elements : {index_t{701}, index_t{100'003}}) {
        std::vector<std::uint32_t> list;
        for (index_t i = 0; i < kept; ++i) list.push_back(static_cast<std::uint32_t>(i * elements / kept));
        const coders::IndexCoder coder({&indices[c]}, elements, kept);
        const Vector<std::byte> out("gradcomp::fuzz::seed", static_cast<std::size_t>(coder.capacity_bytes()));
        all.push_back(seed(head(c, kept, elements), out, coder.encode(exec, list.data(), kept, out.data()).bytes));
      }
    }
    std::vector<float> numbers;
    for (index_t i = 0; i < kept; ++i) numbers.push_back(0.01F * std::sin(static_cast<float>(i)));
    for (std::size_t c = 0; c < values.size(); ++c) {
      const index_t bytes = values[c].bytes(kept);
      const Vector<std::byte> out("gradcomp::fuzz::seed", static_cast<std::size_t>(bytes));
      std::vector<float> decoded(numbers.size());
      values[c].encode(exec, numbers.data(), kept, out.data(), decoded.data());
      all.push_back(seed(head(indices.size() + c, kept, 0), out, bytes));
    }
  }
  for (const index_t count : {index_t{1000}, 2 * coders::symbols_per_chunk + 5}) {
    std::vector<std::byte> symbols;
    for (index_t i = 0; i < count; ++i) symbols.push_back(static_cast<std::byte>(i % 7 * (i % 3)));
    const Vector<std::byte> out("gradcomp::fuzz::seed", symbols.size());
    const index_t bytes = coders::HuffmanCoder(count).encode(exec, symbols.data(), count, out.data());
    all.push_back(seed(head(indices.size() + values.size(), count, 0), out, bytes));
  }
  return all;
}

}  // namespace gradcomp::fuzz
