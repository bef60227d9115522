#pragma once
// Payloads of threshold quanta, read by the letter of their description.
#include "unit/compressors/sparse_rig.hpp"

namespace sparse_test {

struct Quanta {
  PayloadHeader header;
  std::vector<float> taus;
  std::vector<std::uint32_t> indices;
  std::vector<bool> negative;
  std::vector<std::uint16_t> counts;  ///< 1 each where none travel
};

inline Quanta quanta_of(const Rig& rig, std::size_t taus, bool multi) {
  const auto bytes = rig.payload();
  Quanta q;
  std::memcpy(&q.header, bytes.data(), sizeof q.header);
  const auto kept = static_cast<std::size_t>(q.header.kept);
  EXPECT_EQ(bytes.size(), 32 + 4 * taus + 4 * kept + (multi ? 4 * ((kept + 1) / 2) : 0));
  q.taus.resize(taus);
  copy_bytes(q.taus.data(), bytes.data() + 32, 4 * taus);
  std::vector<std::uint32_t> words(kept);
  copy_bytes(words.data(), bytes.data() + 32 + 4 * taus, 4 * kept);
  for (const std::uint32_t word : words) {
    q.indices.push_back(word >> 1);
    q.negative.push_back((word & 1) != 0);
  }
  q.counts.assign(kept, 1);
  if (multi) copy_bytes(q.counts.data(), bytes.data() + 32 + 4 * taus + 4 * kept, 2 * kept);
  return q;
}

}  // namespace sparse_test
