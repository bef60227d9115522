#pragma once
// One bucket with its memories that two_phase reduces step by step, and a plain serial loop that does the same.
#include <algorithm>

#include "decoding.hpp"
#include "distributed/training_steps.hpp"
#include "gradcomp/comm/counting.hpp"
#include "gradcomp/exchange/reduction.hpp"
#include "gradcomp/feedback/feedback.hpp"
#include "gradcomp/method/spec.hpp"

namespace gradcomp::test {

/// 41,000 elements, so that methods with granules of 8192 have several owners, and some of 7 ranks own nothing.
inline Layout network() {
  Layout layout;
  layout.add("conv", {3, 3, 16, 32}).add("norm", {32}).add("hidden", {150, 100}).add("scale", {1}).add("empty", {0});
  return layout.add("output", {300, 60}).add("last", {3359});
}

/// One bucket under one method.
struct OneBucket {
  OneBucket(const std::string& spec, const Layout& tensors, Transport& world)
      : comm(make_counting(world.split(0, world.rank()))),
        method(parse_method(spec)),
        bucket(seen_by(method, tensors)),
        reduction(method, tensors, *comm, faults),
        gradient("gradient", static_cast<std::size_t>(bucket.count())),
        out("out", gradient.size()) {}

  /// Returns false if some rank's values were not finite, in this step or before.
  bool step(int number, const std::vector<float>& values) {
    Kokkos::deep_copy(gradient, HostSpan<const float>(values.data(), values.size()));
    reduction.begin(exec, gradient, out, context_of(number, *comm), nullptr);
    reduce(reduction, exec);
    faults.fetch(exec);
    return !faults.diverged();
  }
  std::vector<float> values() const { return to_host(out); }

  /// The memory of the feedback, or an empty vector without one.
  std::vector<float> memory() {
    const Memories all = reduction.memories();
    const MemoryView* residual = find(all, Role::residual);
    const MemoryView* found = residual != nullptr ? residual : find(all, Role::ef21_sent);
    return found == nullptr ? std::vector<float>{} : floats(*found);
  }
  /// What this rank keeps as an owner, or an empty vector without a memory.
  std::vector<float> owned() {
    const Memories all = reduction.memories();
    const MemoryView* found = find(all, Role::owner_residual);
    return found == nullptr ? std::vector<float>{} : floats(*found);
  }
  /// The residuals of all owners for the whole bucket, on every rank.
  std::vector<double> all_owned() {
    std::vector<float> all(out.size(), 0.0f);
    const Stripe own = stripes()[static_cast<std::size_t>(comm->rank())];
    const auto kept = owned();
    std::copy(kept.begin(), kept.end(), all.begin() + own.first);
    return sum_over_all(*comm, all);
  }
  std::vector<Stripe> stripes() const { return cut_stripes(bucket, method.compressor->info().granule, comm->size()); }

  std::unique_ptr<CountingTransport> comm;
  MethodSpec method;
  Layout bucket;
  Faults faults;
  Reduction reduction;
  Exec exec;
  Vector<float> gradient, out;

 private:
  static std::vector<float> floats(const MemoryView& view) {
    std::vector<float> host(static_cast<std::size_t>(view.bytes / 4));
    Kokkos::deep_copy(HostSpan<float>(host.data(), host.size()),
                      Span<const float>(static_cast<const float*>(view.data), host.size()));
    return host;
  }
};

/// Does every compression of every rank and owner, one after the other, with residuals if `remembers`.
class Serial {
 public:
  Serial(const OneBucket& run, bool remembers)
      : m_compressor(*run.method.compressor), m_stripes(run.stripes()), m_remembers(remembers) {
    const auto n = static_cast<std::size_t>(run.bucket.count());
    m_memories.assign(m_stripes.size() + 1, std::vector<float>(n, 0.0f));
  }

  std::vector<float> step(int number, const std::vector<std::vector<float>>& gradients) {
    std::vector<float> out(gradients[0].size(), 0.0f);
    const int ranks = static_cast<int>(gradients.size());
    for (std::size_t p = 0; p < m_stripes.size(); ++p) {
      const auto n = static_cast<std::size_t>(m_stripes[p].count());
      if (n == 0) continue;
      const Vector<float> mean("mean", n);
      for (int r = 0; r < ranks; ++r) {
        const auto part = to_device(std::vector<float>(
            gradients[static_cast<std::size_t>(r)].begin() + m_stripes[p].first,
            gradients[static_cast<std::size_t>(r)].begin() + m_stripes[p].first + m_stripes[p].count()));
        compress(m_stripes[p], part, m_memories[static_cast<std::size_t>(r)], {7, number, r, ranks},
                 1.0f / static_cast<float>(ranks), mean);
      }
      const Vector<float> decoded("decoded", n);
      compress(m_stripes[p], mean, m_memories.back(), {7, number, ranks + static_cast<int>(p), ranks}, 1, decoded);
      const auto host = to_host(decoded);
      std::copy(host.begin(), host.end(), out.begin() + m_stripes[p].first);
    }
    return out;
  }

 private:
  /// out += weight * C(a) for one stripe of the memories of a worker or of all owners.
  void compress(const Stripe& stripe, const Vector<float>& g, std::vector<float>& memories, const Context& context,
                float weight, const Vector<float>& out) {
    const auto begin = memories.begin() + stripe.first;
    const auto memory = to_device(std::vector<float>(begin, begin + stripe.count()));
    Source source;
    source.count = stripe.count();
    source.gradient = g.data();
    if (m_remembers) {
      source.kind = Source::Kind::residual;
      source.memory = memory.data();
    }
    const auto state = m_compressor.prepare(stripe.layout);
    const Message message = m_compressor.produce(Exec(), 0, {source, {}, context, {}}, *state);
    test::decode_add(m_compressor, Exec(),
                     Span<const std::byte>(message.payload.data(), static_cast<std::size_t>(message.size)), weight,
                     *state, out, context);
    const auto kept = to_host(memory);
    std::copy(kept.begin(), kept.end(), begin);
  }

  const Compressor& m_compressor;
  std::vector<Stripe> m_stripes;
  bool m_remembers;
  std::vector<std::vector<float>> m_memories;  ///< [ranks + 1]: those of the workers, and that of the owners
};

}  // namespace gradcomp::test
