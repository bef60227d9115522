// decode_add() and decode_sum() trust no byte: they refuse corrupted payloads, or write only inside `out`.
#include <cmath>
#include <limits>

#include "conformance/cases.hpp"
#include "conformance/simulated_rank.hpp"
#include "decoding.hpp"
#include "gradcomp/core/error.hpp"

namespace gradcomp::conformance {
namespace corruption_test {

using Bytes = std::vector<std::byte>;

/// Decodes payloads with the State of a receiver. Their allocation has exactly their size.
struct Receiver {
  Receiver(const MethodSpec& method, const Layout& layout) : rank(method, layout) {}

  /// Returns true if the payload was decoded, and false if it was refused by an Error. In both cases checks that
  /// nothing was written outside `out`.
  bool decodes(const Bytes& payload) {
    const bool alone = try_to(
        [&](const Exec& exec, const Span<const std::byte>& bytes) {
          test::decode_add(*rank.compressor, exec, bytes, 1.0f, *rank.state, rank.out.span());
        },
        payload);
    const bool summed = try_to(
        [&](const Exec& exec, const Span<const std::byte>& bytes) {
          test::decode_sum(*rank.compressor, exec, bytes, {0.5f, 0.25f}, *rank.state, rank.out.span());
        },
        payload);
    EXPECT_EQ(alone, summed) << "decode_add() and decode_sum() disagree";
    return alone;
  }

  template <class Decode>
  bool try_to(const Decode& decode, const Bytes& payload) {
    Vector<std::byte> copy("gradcomp::conformance::payload", payload.size());
    to_device(payload, copy.data());
    rank.out.fill(0);
    bool good = true;
    try {
      const Exec exec;
      decode(exec, Span<const std::byte>(copy.data(), copy.size()));
      exec.fence("gradcomp::conformance::decoded");
    } catch (const Error&) {
      good = false;
    }
    EXPECT_TRUE(rank.out.intact()) << "wrote outside of out";
    return good;
  }

  SimulatedRank rank;
};

Bytes with_header(const Bytes& payload, const std::function<void(PayloadHeader&)>& change) {
  PayloadHeader header;
  std::memcpy(&header, payload.data(), sizeof(header));
  change(header);
  Bytes changed = payload;
  std::memcpy(changed.data(), &header, sizeof(header));
  return changed;
}

void check_lengths(Receiver& receiver, const Bytes& payload) {
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{31}, payload.size() - 1})
    EXPECT_FALSE(receiver.decodes(Bytes(payload.begin(), payload.begin() + static_cast<std::ptrdiff_t>(size))))
        << "cut to " << size << " of " << payload.size() << " bytes";
  Bytes longer = payload;
  longer.resize(payload.size() + 4);
  EXPECT_FALSE(receiver.decodes(longer)) << "four bytes too many";
}

void check_headers(Receiver& receiver, const Bytes& payload) {
  const std::vector<std::pair<const char*, std::function<void(PayloadHeader&)>>> changes = {
      {"magic", [](PayloadHeader& h) { h.magic ^= 1; }},
      {"version", [](PayloadHeader& h) { ++h.version; }},
      {"method", [](PayloadHeader& h) { h.method ^= 0x100; }},
      {"spec", [](PayloadHeader& h) { ++h.spec; }},
      {"elements + 1", [](PayloadHeader& h) { ++h.elements; }},
      {"elements 2^40", [](PayloadHeader& h) { h.elements = std::uint64_t{1} << 40; }},
      {"kept + 1", [](PayloadHeader& h) { ++h.kept; }},
      {"kept = elements + 1", [](PayloadHeader& h) { h.kept = h.elements + 1; }},
      {"kept 2^61", [](PayloadHeader& h) { h.kept = std::uint64_t{1} << 61; }},
      {"kept 2^64 - 1", [](PayloadHeader& h) { h.kept = ~std::uint64_t{0}; }},
  };
  for (const auto& [name, change] : changes) EXPECT_FALSE(receiver.decodes(with_header(payload, change))) << name;
}

/// Sets every bit of the flags that has no meaning for this method. Bit 0 says that a gradient is not finite, bit 1
/// belongs to Huffman codes,
/// bit 2 to Elias codes, and bits 8 to 15 of sparse payloads name two coders.
void check_unknown_flags(Receiver& receiver, const Bytes& payload, const MethodSpec& spec) {
  const Info& info = spec.compressor->info();
  const bool huffman = info.name.ends_with("+huffman");
  const bool elias = spec.compressor->options().canonical().find("coding=elias") != std::string::npos;
  const bool entries = info.sparse || info.name.find('+') != std::string::npos;
  for (int bit = 1; bit < 32; ++bit) {
    if ((bit == 1 && huffman) || (bit == 2 && elias) || (bit >= 8 && bit < 16 && entries)) continue;
    const auto flipped = with_header(payload, [&](PayloadHeader& h) { h.flags ^= 1u << bit; });
    EXPECT_FALSE(receiver.decodes(flipped)) << "bit " << bit;
    const auto flagged =
        with_header(payload, [&](PayloadHeader& h) { h.flags = PayloadHeader::flag_diverged | 1u << bit; });
    EXPECT_FALSE(receiver.decodes(flagged)) << "bit " << bit << " beside the flag";
  }
}

void check_fuzzed(Receiver& receiver, const Bytes& payload) {
  std::uint64_t random = 88172645463325252u;
  const auto next = [&] {  // xorshift64
    random ^= random << 13;
    random ^= random >> 7;
    return random ^= random << 17;
  };
  for (int trial = 0; trial < 150; ++trial) {
    Bytes changed = payload;
    if (trial % 3 == 0 &&
        payload.size() >= payload_header_bytes + 4) {  // sets all bits of a word, which may be an index or a scale
      const std::size_t words = (payload.size() - payload_header_bytes) / 4;
      std::memset(changed.data() + payload_header_bytes + 4 * (next() % words), 0xff, 4);
    } else {
      for (std::uint64_t flips = 1 + next() % 4; flips > 0; --flips)
        changed[next() % changed.size()] ^= static_cast<std::byte>(1u << (next() % 8));
    }
    receiver.decodes(changed);
  }
  EXPECT_TRUE(receiver.decodes(payload)) << "a refused payload changed the receiver's State";
}

TEST_P(Conformance, CorruptedPayloadsAreRefused) {
  const MethodSpec spec = method("none");
  if (spec.compressor->info().rounds.front() != MessageKind::bytes)
    GTEST_SKIP() << "the method sends no message of bytes";
  for (const auto& layout : layouts()) {
    SCOPED_TRACE(layout.name);
    auto ranks = make_ranks(spec, layout.layout, 1);
    set_gradients(ranks, "laplace", 81);
    const Bytes payload = run_step(ranks, 0).messages[0];
    Receiver receiver(spec, layout.layout);
    EXPECT_TRUE(receiver.decodes(payload));
    check_lengths(receiver, payload);
    if (layout.layout.count() == 0) {  // no kernel reads the header, but who launches may
      receiver.decodes(with_header(payload, [](PayloadHeader& h) { h.flags = PayloadHeader::flag_diverged; }));
      continue;
    }
    check_headers(receiver, payload);
    check_unknown_flags(receiver, payload, spec);
    check_fuzzed(receiver, payload);
    auto values = make_data("laplace", layout.layout.count(), 82);
    values.back() = std::numeric_limits<float>::quiet_NaN();
    ranks[0].set_gradient(values);
    const Bytes flagged = run_step(ranks, 1).messages[0];
    check_unknown_flags(receiver, flagged, spec);
    check_fuzzed(receiver, flagged);
    auto out = receiver.rank.out.values();
    EXPECT_TRUE(std::isnan(out[0])) << "what is made of the sum would not be flagged";
    out[0] = 0;
    for (const float v : out) ASSERT_EQ(v, 0) << "a flagged payload adds nothing";
  }
}

}  // namespace corruption_test
}  // namespace gradcomp::conformance
