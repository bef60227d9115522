#include "case.hpp"

#include <algorithm>
#include <utility>

#include "gradcomp/measure/stopwatch.hpp"
#include "gradient.hpp"

namespace gradcomp::bench {

Span<const float> Session::gradient(index_t count) {
  if (m_gradient.size() != static_cast<std::size_t>(count)) {
    m_gradient = {};  // before the new one: two of the largest may not fit
    m_gradient = laplace_gradient(exec, count, options.seed);
    m_probe = std::make_unique<ReadProbe>(count);
  }
  return Span<const float>(m_gradient.data(), m_gradient.size());
}

double Session::read_seconds(const Span<const float>& data) { return m_probe->seconds(exec, data); }

index_t Session::samples(index_t count) const {
  if (options.samples > 0) return options.samples;
  return std::clamp<index_t>((index_t{1} << 26) / std::max<index_t>(count, 1), 10, 200);
}

CaseTimes sample(benchmark::State& state, Session& session, const Span<const float>& gradient,
                 const std::function<void()>& before, const std::function<double()>& work) {
  CaseTimes times;
  Stopwatch watch(session.exec);
  const auto once = [&] {
    before();
    watch.start();
    const double uncounted = work();
    return watch.stop() - uncounted;
  };
  once();
  session.read_seconds(gradient);
  for (auto _ : state) {
    const double seconds = once();
    times.work.push_back(1e3 * seconds);
    times.read.push_back(1e3 * session.read_seconds(gradient));
    state.SetIterationTime(seconds);
  }
  return times;
}

void finish_case(Session& session, report::Row row, const std::string& operation, index_t elements, double passes,
                 const CaseTimes& times) {
  const double milliseconds = report::quantile(times.work, 0.5);
  const double limit = report::quantile(times.read, 0.5);
  const auto per_second = [&](double amount) {
    return milliseconds > 0 ? report::Json(1e3 * amount / milliseconds) : report::Json(nullptr);
  };
  const auto count = static_cast<double>(elements);
  row.set("operation", operation).set("elements", elements);
  row.times("time_ms", "times_ms", times.work);
  row.set("elements_per_second", per_second(count));
  row.set("passes", passes > 0 ? report::Json(passes) : report::Json(nullptr));
  row.set("gb_per_second", passes > 0 ? per_second(1e-9 * passes * count * sizeof(float)) : report::Json(nullptr));
  row.set("read_limit_ms", limit).set("read_limit_ratio", milliseconds / limit);
  session.rows.push_back(std::move(row));
}

void add_case(Session& session, const std::string& name, index_t elements,
              std::function<void(benchmark::State&, report::Row)> body) {
  const auto run = [&session, name, body = std::move(body)](benchmark::State& state) {
    try {
      body(state, report::Row(name));
    } catch (const std::exception& error) {
      session.failed = true;
      state.SkipWithError(error.what());
    }
  };
  session.names.push_back(name);
  // A fixed number of calls: repeatable, and raw samples stay few enough to keep.
  benchmark::RegisterBenchmark(name, run)
      ->UseManualTime()
      ->Unit(benchmark::kMillisecond)
      ->Iterations(session.samples(elements));
}

}  // namespace gradcomp::bench
