#pragma once
// What the methods that send chosen entries (top_k, sidco) share: work space of a bucket and the making of its payload.
#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "gradcomp/coders/sparse_payload.hpp"
#include "gradcomp/core/registry.hpp"
#include "gradcomp/kernels/top_k.hpp"

namespace gradcomp::compressors {

/// Entries that a segment of n elements sends at target density `ratio`: max(1, floor(ratio n)), 0 when it is empty.
inline index_t target_kept(double ratio, index_t n) {
  return n == 0 ? 0 : std::max<index_t>(1, static_cast<index_t>(std::floor(ratio * static_cast<double>(n))));
}

/// Sum over segments of target_kept().
inline index_t target_kept(double ratio, const Layout& layout) {
  index_t total = 0;
  for (const auto& segment : layout.segments) total += target_kept(ratio, segment.count);
  return total;
}

/// Throws Error unless the bucket's indices fit in 32 bits.
inline const Layout& indexable(const Layout& layout) {
  constexpr index_t most = 0xffffffff;
  require(layout.count() <= most, "a bucket of {} elements: sparse methods index at most {}", layout.count(), most);
  return layout;
}

/// Work space of one bucket: about 6 (3 ratio + 0.02) n bytes for candidates, 0.03 n for the sample, the payload.
struct SparseState : State {
  SparseState(const Layout& bucket, double ratio, index_t capacity)
      : State(indexable(bucket)),
        tiles(layout),
        first(tiles),
        selector(tiles, ratio),
        requests(layout.segments.size()),
        payload("gradcomp::compressors::payload", static_cast<std::size_t>(capacity)) {
    kept.assign(layout.segments.size(), 0);
    for (const auto& segment : layout.segments) target.push_back(target_kept(ratio, segment.count));
  }

  index_t scratch_bytes() const override {
    return tiles.bytes() + first.bytes() + selector.bytes() + static_cast<index_t>(payload.size());
  }

  kernels::Tiles tiles;
  kernels::FirstPass first;
  kernels::Selector selector;
  std::vector<kernels::Request> requests;  ///< [segments] of this step
  Vector<std::byte> payload;               ///< [payload_capacity()]
};

/// A message that makes all ranks skip the step.
inline void send_flag(const Exec& exec, SparseState& state, PayloadHeader header, Message& message) {
  std::fill(state.kept.begin(), state.kept.end(), 0);
  header.kept = 0;
  header.flags |= PayloadHeader::flag_skip;
  message.kind = MessageKind::bytes;
  message.payload = state.payload;
  message.size = payload_header_bytes;
  write_header(exec, header, message.payload);
}

/// Chooses by state.requests and writes the payload; the source keeps what is not sent.
inline void send_chosen(const Exec& exec, const Source& source, SparseState& state, PayloadHeader header,
                        Message& message) {
  state.selector.choose(exec, state.tiles, source, state.first, state.requests);
  for (std::size_t s = 0; s < state.kept.size(); ++s) state.kept[s] = state.selector.chosen()[s].kept;
  const index_t kept = state.selector.kept();
  header.kept = static_cast<std::uint64_t>(kept);
  message.kind = MessageKind::bytes;
  message.payload = state.payload;
  message.size = payload_header_bytes + coders::sparse_bytes(kept);
  const auto sections = coders::sparse_sections<std::byte>(message.payload, kept);
  state.selector.emit(exec, state.tiles, source, sections.indices, sections.values);
  write_header(exec, header, message.payload);
}

}  // namespace gradcomp::compressors
