#pragma once
// Payloads of threshold quanta, read by the letter of their description.
#include "judged.hpp"
#include "unit/compressors/sparse_rig.hpp"

namespace sparse_test {

inline std::vector<std::byte> payload_of(const Rig& rig) {
  return to_host(rig.message.payload.data(), rig.message.size);
}

struct Quanta {
  PayloadHeader header;
  std::vector<float> taus;
  std::vector<std::uint32_t> indices;
  std::vector<bool> negative;
  std::vector<std::uint16_t> counts;  ///< 1 each where none travel
};

inline Quanta quanta_of(const Rig& rig, std::size_t taus, bool multi) {
  const auto bytes = payload_of(rig);
  Quanta q;
  std::memcpy(&q.header, bytes.data(), sizeof q.header);
  if (q.header.skip()) {
    EXPECT_EQ(bytes.size(), 32u);
    return q;
  }
  const auto kept = static_cast<std::size_t>(q.header.kept);
  EXPECT_EQ(bytes.size(), 32 + 4 * taus + 4 * kept + (multi ? 4 * ((kept + 1) / 2) : 0));
  q.taus.resize(taus);
  std::memcpy(q.taus.data(), bytes.data() + 32, 4 * taus);
  std::vector<std::uint32_t> words(kept);
  std::memcpy(words.data(), bytes.data() + 32 + 4 * taus, 4 * kept);
  for (const std::uint32_t word : words) {
    q.indices.push_back(word >> 1);
    q.negative.push_back((word & 1) != 0);
  }
  q.counts.assign(kept, 1);
  if (multi) std::memcpy(q.counts.data(), bytes.data() + 32 + 4 * taus + 4 * kept, 2 * kept);
  return q;
}

/// decode_add() of changed bytes must throw and leave `out` alone.
inline void expect_payload_refused(Rig& rig, const std::vector<std::byte>& bytes, const char* what) {
  const Vector<std::byte> device = to_device(bytes);
  const Vector<float> out("out", static_cast<std::size_t>(rig.layout.count()));
  EXPECT_THROW(test::decode_add(*rig.method, Exec(), device, 1, *rig.state, out), Error) << what;
  for (const float v : to_host(out.data(), out.size())) ASSERT_EQ(v, 0) << what;
}

/// `bytes` with `value` at byte `at`.
template <class T>
std::vector<std::byte> with_value(std::vector<std::byte> bytes, std::size_t at, T value) {
  std::memcpy(bytes.data() + at, &value, sizeof value);
  return bytes;
}

}  // namespace sparse_test
