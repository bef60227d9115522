#pragma once
// A small "model" whose gradients are a pure function of (rank, step). An exchange reduces them step by step.
#include <algorithm>
#include <cmath>

#include "distributed/world.hpp"
#include "gradcomp/exchange/exchange.hpp"
#include "gradcomp/exchange/stripes.hpp"
#include "gradcomp/method/spec.hpp"

namespace gradcomp::test {

/// Matrices, vectors, an odd size and a single element. With the bucket size below there are several buckets.
inline Layout small_model() {
  Layout layout;
  layout.add("conv", {16, 3, 3, 3}).add("bias", {16}).add("hidden", {40, 30}).add("scale", {1}).add("norm", {37});
  layout.add("output", {50, 24}).add("last", {10});
  return layout;
}

inline ExchangeOptions small_buckets(const std::string& schedule) {
  ExchangeOptions options;
  options.overlapped = schedule == "overlapped";
  options.bucket_bytes = 6000;
  options.seed = 7;
  return options;
}

inline Context context_of(std::int64_t step, const Transport& comm) { return {7, step, comm.rank(), comm.size()}; }

/// Values of different signs and magnitudes, which differ between ranks and steps.
inline std::vector<float> gradient_values(index_t count, int rank, int step) {
  std::vector<float> g(static_cast<std::size_t>(count));
  for (index_t i = 0; i < count; ++i) {
    const double x = static_cast<double>((i * 7919 + rank * 104729 + step * 1299709) % 10007) / 10007.0 - 0.5;
    g[static_cast<std::size_t>(i)] = static_cast<float>(x * x * x * 8.0);
  }
  return g;
}

inline bool all_finite(const std::vector<float>& values) {
  return std::all_of(values.begin(), values.end(), [](float x) { return std::isfinite(x); });
}

/// Elements of the rank's own stripe of a bucket, as a method sees the bucket (reducer two_phase).
inline Stripe own_stripe(const MethodSpec& method, const Layout& bucket, const Transport& comm) {
  return cut_stripes(seen_by(method, bucket), method.compressor->info().granule,
                     comm.size())[static_cast<std::size_t>(comm.rank())];
}

/// One method with the schedule "synchronous" or "overlapped".
class Replica {
 public:
  Replica(const MethodSpec& method, Transport& comm, const std::string& schedule)
      : m_layout(small_model()),
        m_method(method),
        m_comm(comm),
        m_gradient("gradient", static_cast<std::size_t>(m_layout.count())),
        m_mean("mean", m_gradient.size()),
        m_exchange(make_exchange(method, m_layout, comm, small_buckets(schedule))) {}

  std::vector<float> own_gradient(int step) const { return gradient_values(m_layout.count(), m_comm.rank(), step); }

  /// A step in which backward reports one tensor after the other, beginning with the last one.
  StepReport step(int number, const std::vector<float>& gradient) {
    Kokkos::deep_copy(m_gradient, HostSpan<const float>(gradient.data(), gradient.size()));
    m_exchange->begin(m_exec, m_gradient, m_mean, context_of(number, m_comm), nullptr);
    for (std::size_t s = m_layout.segments.size(); s-- > 0;) m_exchange->gradient_ready(m_exec, s);
    m_exchange->finish(m_exec);
    return m_exchange->report();
  }
  StepReport step(int number) { return step(number, own_gradient(number)); }
  /// A step on a gradient that has this value in one element of one rank.
  void spoilt_step(int number, int rank, std::size_t element, float value = std::nanf("")) {
    auto gradient = own_gradient(number);
    if (m_comm.rank() == rank) gradient[element] = value;
    step(number, gradient);
  }
  /// Whether some rank's values were not finite, in any step so far. Throws Error if a message was broken.
  bool diverged() const { return m_exchange->diverged(); }

  std::vector<float> mean() const { return to_host(m_mean); }

  /// The residual of the whole model, with zeros where there is none.
  std::vector<float> residual() const { return memory(Role::residual); }

  /// A memory of the feedback.
  std::vector<float> memory(Role role) const {
    std::vector<float> all(m_mean.size(), 0.0f);
    const auto& buckets = m_exchange->buckets();
    const Memories memories = m_exchange->memories();
    for (std::size_t b = 0; b < buckets.size(); ++b) {
      const MemoryView* found = find(memories, role, static_cast<int>(b));
      if (found == nullptr) continue;
      const auto n = static_cast<std::size_t>(buckets[b].count);
      Kokkos::deep_copy(HostSpan<float>(all.data() + buckets[b].offset, n),
                        Span<const float>(static_cast<const float*>(found->data), n));
    }
    return all;
  }

  /// What this rank keeps as an owner of stripes, with zeros elsewhere and for reducers without owners.
  std::vector<float> owner_residual() const {
    std::vector<float> all(m_mean.size(), 0.0f);
    const auto& buckets = m_exchange->buckets();
    const Memories memories = m_exchange->memories();
    for (std::size_t b = 0; b < buckets.size(); ++b) {
      const MemoryView* found = find(memories, Role::owner_residual, static_cast<int>(b));
      if (found == nullptr) continue;
      const Stripe own = own_stripe(m_method, m_layout.slice(buckets[b].first, buckets[b].last), m_comm);
      EXPECT_EQ(found->bytes, 4 * own.count());
      const auto n = static_cast<std::size_t>(own.count());
      Kokkos::deep_copy(HostSpan<float>(all.data() + buckets[b].offset + own.first, n),
                        Span<const float>(static_cast<const float*>(found->data), n));
    }
    return all;
  }

  Exchange& exchange() { return *m_exchange; }
  const Layout& layout() const { return m_layout; }

 private:
  Layout m_layout;
  MethodSpec m_method;
  Transport& m_comm;
  Exec m_exec;
  Vector<float> m_gradient, m_mean;
  std::unique_ptr<Exchange> m_exchange;
};

/// The sum of x over ranks in double, element by element.
inline std::vector<double> sum_over_all(Transport& comm, const std::vector<float>& x) {
  const auto own = to_device(x);
  const Vector<float> all("all", x.size() * static_cast<std::size_t>(comm.size()));
  run(comm, Exec(), AllGather{own.data(), all.data(), static_cast<index_t>(x.size()), DType::f32});
  const auto host = to_host(all);
  std::vector<double> sum(x.size(), 0.0);
  for (std::size_t i = 0; i < host.size(); ++i) sum[i % x.size()] += static_cast<double>(host[i]);
  return sum;
}

}  // namespace gradcomp::test
