#pragma once
// One rank of a method that sends every element in one message of bytes, and the checks that all such methods share. It
// needs device memory that is host memory.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "decoding.hpp"
#include "gradcomp/core/registry.hpp"

namespace dense_test {

using namespace gradcomp;

using Floats = std::vector<float>;
using Bytes = std::vector<std::byte>;
using Given = std::map<std::string, std::string>;

inline Span<float> span(Floats& v) { return Span<float>(v.data(), v.size()); }

inline Source residual_source(const Floats& gradient, Floats& memory) {
  return {Source::Kind::residual, static_cast<index_t>(gradient.size()), gradient.data(), memory.data(), 1, 1};
}
inline Source plain_source(const Floats& gradient) {
  return {Source::Kind::none, static_cast<index_t>(gradient.size()), gradient.data(), nullptr, 1, 1};
}

struct Rig {
  Rig(const Entry& of, const Layout& layout, const Given& given = {})
      : entry(of),
        method(entry.make(ParameterValues(entry.info.name, entry.info.parameters, given))),
        state(method->prepare(layout)) {}

  Bytes encode(const Source& source, const Context& context = {}) {
    const Message message = method->produce(Exec(), 0, {source, {}, context, {}}, *state);
    Exec().fence();
    return {message.payload.data(), message.payload.data() + message.size};
  }
  void decode(const Bytes& payload, float weight, Floats& out) {
    test::decode_add(*method, Exec(), Span<const std::byte>(payload.data(), payload.size()), weight, *state, span(out));
    Exec().fence();
  }
  Floats round_trip(const Floats& gradient, const Context& context = {}) {
    Floats out(gradient.size(), 0);
    decode(encode(plain_source(gradient), context), 1, out);
    return out;
  }
  bool refuses(const Bytes& payload) {
    Floats out(static_cast<std::size_t>(state->layout.count()), 0);
    try {
      decode(payload, 1, out);
    } catch (const Error&) {
      return true;
    }
    return false;
  }

  Entry entry;
  std::unique_ptr<Compressor> method;
  std::unique_ptr<State> state;
};

inline Floats normal_values(index_t n, unsigned seed, float scale = 1) {
  std::mt19937 engine(seed);
  std::normal_distribution<float> normal;
  Floats values(static_cast<std::size_t>(n));
  for (float& v : values) v = scale * normal(engine);
  return values;
}

/// Every size around a few words of bits, and those around a tile.
inline std::vector<index_t> edge_sizes() {
  std::vector<index_t> sizes{4095, 4096, 4097};
  for (index_t n = 0; n <= 130; ++n) sizes.push_back(n);
  return sizes;
}

inline double squared(const Floats& x) {
  double sum = 0;
  for (const float v : x) sum += static_cast<double>(v) * v;
  return sum;
}

/// ||a - C(a)||^2 / ||a||^2
inline double error_share(const Floats& a, const Floats& decoded) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += std::pow(static_cast<double>(a[i]) - decoded[i], 2);
  return sum / squared(a);
}

/// What was received and what is remembered add up to all gradients.
inline void check_telescopes(const Entry& entry, const Given& given, const Layout& layout) {
  Rig rig(entry, layout, given);
  Floats memory(static_cast<std::size_t>(layout.count()), 0), received(memory);
  std::vector<double> total(memory.size(), 0);
  for (int step = 0; step < 20; ++step) {
    const Floats g = normal_values(layout.count(), static_cast<unsigned>(step));
    for (std::size_t i = 0; i < g.size(); ++i) total[i] += g[i];
    rig.decode(rig.encode(residual_source(g, memory), {1, step, 0, 1}), 1, received);
  }
  for (std::size_t i = 0; i < total.size(); ++i)
    ASSERT_NEAR(static_cast<double>(received[i]) + memory[i], total[i], 1e-4) << i;
}

/// Wrong lengths and counts are refused. A payload with any single byte flipped decodes to finite values, or is
/// refused.
inline void check_hostile(const Entry& entry, const Given& given, const Layout& layout) {
  Rig rig(entry, layout, given);
  const Bytes good = rig.encode(plain_source(normal_values(layout.count(), 11)));
  for (std::size_t size = 0; size < good.size(); size += 13)
    EXPECT_TRUE(rig.refuses({good.begin(), good.begin() + static_cast<std::ptrdiff_t>(size)})) << size;
  Bytes longer = good;
  longer.push_back(std::byte{0});
  EXPECT_TRUE(rig.refuses(longer));
  Bytes kept = good;
  kept[16] ^= std::byte{1};
  EXPECT_TRUE(rig.refuses(kept));
  for (std::size_t at = static_cast<std::size_t>(payload_header_bytes); at < good.size(); ++at) {
    Bytes bad = good;
    bad[at] = std::byte{0xff};
    Floats out(static_cast<std::size_t>(layout.count()), 0);
    try {
      rig.decode(bad, 1, out);
    } catch (const Error&) {
      continue;
    }
    for (const float v : out) ASSERT_TRUE(std::isfinite(v)) << "byte " << at;
  }
  EXPECT_FALSE(rig.refuses(good));
}

}  // namespace dense_test
