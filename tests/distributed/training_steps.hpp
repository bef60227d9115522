#pragma once
// A small "model" whose gradients are a function of (rank, step), reduced step by step through a schedule.
#include <cmath>

#include "distributed/world.hpp"
#include "gradcomp/exchange/detail/stripes.hpp"
#include "gradcomp/exchange/schedule.hpp"

namespace gradcomp::test {

/// Matrices, vectors, an odd size and a single element; several buckets at the bucket size below.
inline Layout small_model() {
  Layout layout;
  layout.add("conv", {16, 3, 3, 3}).add("bias", {16}).add("hidden", {40, 30}).add("scale", {1}).add("norm", {37});
  layout.add("output", {50, 24}).add("last", {10});
  return layout;
}

inline ScheduleOptions small_buckets(const std::string& schedule) {
  ScheduleOptions options;
  options.schedule = schedule;
  options.bucket_bytes = 6000;
  options.seed = 7;
  return options;
}

/// Values of mixed sign and magnitude, no two ranks or steps alike.
inline std::vector<float> gradient_values(index_t count, int rank, int step) {
  std::vector<float> g(static_cast<std::size_t>(count));
  for (index_t i = 0; i < count; ++i) {
    const double x = static_cast<double>((i * 7919 + rank * 104729 + step * 1299709) % 10007) / 10007.0 - 0.5;
    g[static_cast<std::size_t>(i)] = static_cast<float>(x * x * x * 8.0);
  }
  return g;
}

/// Elements of the own stripe of a bucket, as a method sees the bucket (reducer two_phase).
inline Stripe own_stripe(const MethodSpec& method, const Layout& bucket, const Communicator& comm) {
  const Layout seen = method.common.text("granularity") == "bucket" ? bucket.fused() : bucket;
  return cut_stripes(seen, method.compressor->info().granule, comm.size())[static_cast<std::size_t>(comm.rank())];
}

/// One method over one schedule.
class Replica {
 public:
  Replica(const MethodSpec& method, Communicator& comm, const std::string& schedule)
      : m_layout(small_model()),
        m_method(method),
        m_comm(comm),
        m_gradient("gradient", static_cast<std::size_t>(m_layout.count())),
        m_mean("mean", m_gradient.size()),
        m_schedule(make_schedule(method, m_layout, comm, small_buckets(schedule))) {}

  std::vector<float> own_gradient(int step) const { return gradient_values(m_layout.count(), m_comm.rank(), step); }

  /// A step with backward reporting one tensor after the other, from the last.
  StepReport step(int number, const std::vector<float>& gradient) {
    Kokkos::deep_copy(m_gradient, HostSpan<const float>(gradient.data(), gradient.size()));
    m_schedule->begin_step(m_exec, m_gradient, number, nullptr);
    for (std::size_t s = m_layout.segments.size(); s-- > 0;) m_schedule->on_ready(m_exec, s);
    return m_schedule->end_step(m_exec, m_mean);
  }
  StepReport step(int number) { return step(number, own_gradient(number)); }

  std::vector<float> mean() const { return to_host(m_mean); }

  /// The residual of the whole model; zeros where there is none.
  std::vector<float> residual() const { return memory("residual"); }

  /// A memory of the feedback, by its name in checkpoints.
  std::vector<float> memory(const std::string& name) const {
    std::vector<float> all(m_mean.size(), 0.0f);
    const auto buckets = m_schedule->buckets();
    for (const StateView& view : m_schedule->persistent()) {
      for (std::size_t b = 0; b < buckets.size(); ++b) {
        if (view.name != fmt::format("bucket{}/{}", b, name)) continue;
        const auto n = static_cast<std::size_t>(buckets[b].count);
        Kokkos::deep_copy(HostSpan<float>(all.data() + buckets[b].offset, n),
                          Span<const float>(static_cast<const float*>(view.data), n));
      }
    }
    return all;
  }

  /// What the owners of stripes keep, each rank its own part; zeros elsewhere and with reducers that have no owners.
  std::vector<float> owner_residual() const {
    std::vector<float> all(m_mean.size(), 0.0f);
    const auto buckets = m_schedule->buckets();
    for (const StateView& view : m_schedule->persistent()) {
      for (std::size_t b = 0; b < buckets.size(); ++b) {
        if (view.name != fmt::format("bucket{}/owner_residual", b)) continue;
        const Stripe own = own_stripe(m_method, m_layout.slice(buckets[b].first, buckets[b].last), m_comm);
        EXPECT_EQ(view.bytes, 4 * own.count());
        const auto n = static_cast<std::size_t>(own.count());
        Kokkos::deep_copy(HostSpan<float>(all.data() + buckets[b].offset + own.first, n),
                          Span<const float>(static_cast<const float*>(view.data), n));
      }
    }
    return all;
  }

  Schedule& schedule() { return *m_schedule; }
  const Layout& layout() const { return m_layout; }

 private:
  Layout m_layout;
  MethodSpec m_method;
  Communicator& m_comm;
  Exec m_exec;
  Vector<float> m_gradient, m_mean;
  std::unique_ptr<Schedule> m_schedule;
};

/// x summed over ranks in double, element by element.
inline std::vector<double> sum_over_all(Communicator& comm, const std::vector<float>& x) {
  const auto own = to_device(x);
  const Vector<float> all("all", x.size() * static_cast<std::size_t>(comm.size()));
  comm.allgather(Exec(), own.data(), all.data(), static_cast<index_t>(x.size()), DType::f32)->wait(Exec());
  const auto host = to_host(all);
  std::vector<double> sum(x.size(), 0.0);
  for (std::size_t i = 0; i < host.size(); ++i) sum[i % x.size()] += static_cast<double>(host[i]);
  return sum;
}

}  // namespace gradcomp::test
