#pragma once
// Ranks of a sparse method with its feedback, as the exchange would drive them.
#include <gtest/gtest.h>

#include <map>
#include <memory>

#include "copies.hpp"
#include "decoding.hpp"
#include "gradcomp/core/registry.hpp"
#include "unit/sparse_inputs.hpp"

namespace gradcomp::compressors {  // where the tests are: one in gradcomp would hide those of sparse_test
using test::to_device;
using test::to_host;
}  // namespace gradcomp::compressors

namespace sparse_test {

/// memcpy(), which allows no null pointers, also for nothing.
inline void copy_bytes(void* to, const void* from, std::size_t count) {
  if (count > 0) std::memcpy(to, from, count);
}

using namespace gradcomp;
using test::to_device;
using test::to_host;

/// A payload on the host.
struct Decoded {
  PayloadHeader header;
  std::vector<std::uint32_t> indices;
  std::vector<float> values;
};

struct Rig {
  Rig(const Entry& entry, const std::map<std::string, std::string>& options, const Layout& bucket, bool residual)
      : layout(bucket),
        method(entry.make(ParameterValues(entry.info.name, entry.info.parameters, options))),
        state(method->prepare(layout)),
        gradient("gradient", static_cast<std::size_t>(layout.count())),
        memory("memory", static_cast<std::size_t>(residual ? layout.count() : 0)),
        mean("mean", gradient.size()) {
    source.count = layout.count();
    source.gradient = gradient.data();
    if (residual) {
      source.kind = Source::Kind::residual;
      source.memory = memory.data();
    }
  }

  /// One step: produce() from g.
  void produce(const std::vector<float>& g, std::int64_t step = 0) {
    to_device(g, gradient);
    context.step = step;
    produce_round(0);
  }
  void produce_round(int round) { message = method->produce(Exec(), round, step(), *state); }
  Step step() const { return {source, mean, context, faults.counts()}; }
  /// The mean of finish(), or an empty vector if the method has diverged.
  std::vector<float> finish() {
    const Exec exec;
    Kokkos::deep_copy(exec, mean, 77.0f);
    method->finish(exec, step(), *state);
    faults.fetch(exec);
    return faults.diverged() ? std::vector<float>() : to_host(mean);
  }

  std::vector<std::byte> payload() const { return to_host(message.payload.data(), message.size); }
  Decoded decoded() const {
    Decoded d;
    const auto bytes = payload();
    std::memcpy(&d.header, bytes.data(), sizeof d.header);
    const auto kept = static_cast<std::size_t>(d.header.kept);
    EXPECT_EQ(bytes.size(), 32 + 8 * kept);
    d.indices.resize(kept);
    d.values.resize(kept);
    copy_bytes(d.indices.data(), bytes.data() + 32, 4 * kept);
    copy_bytes(d.values.data(), bytes.data() + 32 + 4 * kept, 4 * kept);
    return d;
  }

  std::vector<float> residual() const { return to_host(memory.data(), memory.size()); }

  /// decode_add() of the message's bytes into an array that starts as `start`.
  std::vector<float> decode(float weight, const std::vector<float>& start) {
    const Vector<float> out("out", start.size());
    to_device(start, out);
    const Span<const std::byte> payload(message.payload.data(), static_cast<std::size_t>(message.size));
    const Exec exec;
    test::decode_add(*method, exec, payload, weight, *state, out);
    exec.fence();
    return to_host(out.data(), start.size());
  }

  Layout layout;
  std::unique_ptr<Compressor> method;
  std::unique_ptr<State> state;
  Vector<float> gradient, memory, mean;
  Source source;
  Context context;
  Message message;
  Faults faults;
};

/// What a rank sends in a round of sums.
inline std::vector<float> sent_values(const Rig& rig) {
  return to_host(static_cast<const float*>(rig.message.data), rig.message.count);
}

/// One step of a method with two rounds of sums, whose bytes are those of the formula. Returns the mean of every rank,
/// empty where the method has diverged.
inline std::vector<std::vector<float>> step_of(const std::vector<Rig*>& rigs, const std::vector<std::vector<float>>& g,
                                               std::int64_t step = 0) {
  index_t bytes = 0;
  for (int round = 0; round < 2; ++round) {
    std::vector<float> sum;
    for (std::size_t r = 0; r < rigs.size(); ++r) {
      rigs[r]->context.rank = static_cast<int>(r);
      rigs[r]->context.ranks = static_cast<int>(rigs.size());
      if (round == 0) rigs[r]->produce(g[r], step);
      if (round == 1) rigs[r]->produce_round(1);
      const auto own = sent_values(*rigs[r]);
      sum.resize(own.size());
      for (std::size_t i = 0; i < own.size(); ++i) sum[i] += own[i];
    }
    bytes += rigs[0]->message.bytes();
    for (Rig* rig : rigs) {
      to_device(sum, static_cast<float*>(rig->message.result));
      rig->method->consume(Exec(), round, rig->message, rig->step(), *rig->state);
    }
  }
  EXPECT_EQ(bytes, rigs[0]->method->payload_bytes(rigs[0]->layout, 0));
  std::vector<std::vector<float>> means;
  for (Rig* rig : rigs) means.push_back(rig->finish());
  return means;
}

/// decode_add() of changed bytes must throw.
inline void expect_payload_refused(Rig& rig, const std::vector<std::byte>& bytes, const char* what) {
  const Vector<std::byte> device = to_device(bytes);
  const Vector<float> out("out", static_cast<std::size_t>(rig.layout.count()));
  EXPECT_THROW(test::decode_add(*rig.method, Exec(), device, 1, *rig.state, out), Error) << what;
}

/// `bytes` with `value` at byte `at`.
template <class T>
std::vector<std::byte> with_value(std::vector<std::byte> bytes, std::size_t at, T value) {
  std::memcpy(bytes.data() + at, &value, sizeof value);
  return bytes;
}

/// What was sent plus what stays is a, bit for bit; indices ascend below n; kept adds up.
inline void expect_conservation(const Rig& rig, const std::vector<float>& a) {
  const Decoded d = rig.decoded();
  std::vector<float> sum = rig.residual();
  ASSERT_EQ(sum.size(), a.size());
  for (std::size_t j = 0; j < d.indices.size(); ++j) {
    ASSERT_LT(d.indices[j], a.size());
    if (j > 0) {
      ASSERT_LT(d.indices[j - 1], d.indices[j]);
    }
    ASSERT_EQ(sum[d.indices[j]], 0);
    sum[d.indices[j]] = d.values[j];
  }
  ASSERT_EQ(first_difference(sum, a), -1);
  index_t kept = 0;
  for (const index_t k : rig.state->kept) kept += k;
  ASSERT_EQ(kept, static_cast<index_t>(d.indices.size()));
  ASSERT_EQ(rig.message.size, payload_header_bytes + rig.method->payload_bytes(rig.layout, kept));
  ASSERT_LE(rig.message.size, rig.method->payload_capacity(rig.layout));
}

/// What was decoded over `steps` steps, and what still waits, is the sum of the gradients.
inline void expect_nothing_lost(Rig& rig, int steps, double tolerance) {
  const index_t n = rig.layout.count();
  std::vector<double> sent(static_cast<std::size_t>(n)), total(sent);
  for (int step = 0; step < steps; ++step) {
    const auto g = make_input("gauss", n, static_cast<std::uint32_t>(step));
    rig.produce(g, step);
    const auto out = rig.decode(1, std::vector<float>(g.size()));
    for (std::size_t i = 0; i < g.size(); ++i) {
      sent[i] += static_cast<double>(out[i]);
      total[i] += static_cast<double>(g[i]);
    }
  }
  const auto rest = rig.residual();
  for (std::size_t i = 0; i < rest.size(); ++i)
    ASSERT_NEAR(sent[i] + static_cast<double>(rest[i]), total[i], tolerance);
}

inline double squares(const std::vector<float>& x) {
  double sum = 0;
  for (const float v : x) sum += static_cast<double>(v) * static_cast<double>(v);
  return sum;
}

}  // namespace sparse_test
