#include "gradcomp/exchange/reduction.hpp"

#include <algorithm>
#include <cmath>

#include "gradcomp/comm/over_ranks.hpp"
#include "gradcomp/exchange/detail/stripes.hpp"
#include "gradcomp/exchange/spec.hpp"
#include "gradcomp/kernels/scatter.hpp"
#include "gradcomp/kernels/threefry.hpp"
#include "gradcomp/measure/stopwatch.hpp"

namespace gradcomp {
/// Laplace(1) samples, equal on any device: element i of rank r is a function of (seed, r, i).
void fill_laplace(const Exec& exec, const Span<float>& x, std::uint64_t seed, int rank) {
  const Array4 key = stream_key(seed, 0, 0, static_cast<std::uint32_t>(rank));
  Kokkos::parallel_for(
      "gradcomp::exchange::fill_laplace", Kokkos::RangePolicy<Exec>(exec, 0, static_cast<index_t>(x.size())),
      KOKKOS_LAMBDA(const index_t i) {
        const Array4 draw = threefry4x32_12(key, stream_counter(i, random_stream::sampling, 0));
        const float magnitude = -Kokkos::log(uniform24(draw.x0) + 0x1p-25f);
        x(i) = (draw.x1 & 1u) != 0 ? magnitude : -magnitude;
      });
}

/// Elements of `out` that are not mean(gradient - residual), within rounding. Every method that feeds its error back
/// from an empty memory must satisfy this identity, whatever it drops or rounds.
index_t count_wrong(const Exec& exec, const Span<const float>& expected, const Span<const float>& out, float relative) {
  index_t wrong = 0;
  Kokkos::parallel_reduce(
      "gradcomp::exchange::count_wrong", Kokkos::RangePolicy<Exec>(exec, 0, static_cast<index_t>(out.size())),
      KOKKOS_LAMBDA(const index_t i, index_t& count) {
        const float tolerance = 1e-5f + relative * Kokkos::abs(expected(i));
        count += Kokkos::abs(out(i) - expected(i)) <= tolerance ? 0 : 1;  // NaN counts
      },
      wrong);
  return wrong;
}

/// Elements of `out` that are not -1 or +1.
index_t count_no_signs(const Exec& exec, const Span<const float>& out) {
  index_t wrong = 0;
  Kokkos::parallel_reduce(
      "gradcomp::exchange::count_no_signs", Kokkos::RangePolicy<Exec>(exec, 0, static_cast<index_t>(out.size())),
      KOKKOS_LAMBDA(const index_t i, index_t& count) { count += Kokkos::abs(out(i)) == 1.0f ? 0 : 1; }, wrong);
  return wrong;
}

/// x = (gradient - residual) / ranks; residual may be null.
void sent_share(const Exec& exec, const Span<const float>& gradient, const float* residual, int ranks,
                const Span<float>& x) {
  const float share = 1.0f / static_cast<float>(ranks);
  Kokkos::parallel_for(
      "gradcomp::exchange::sent_share", Kokkos::RangePolicy<Exec>(exec, 0, static_cast<index_t>(x.size())),
      KOKKOS_LAMBDA(const index_t i) { x(i) = (gradient(i) - (residual == nullptr ? 0.0f : residual[i])) * share; });
}

/// x -= y
void subtract(const Exec& exec, const Span<float>& x, const float* y) {
  Kokkos::parallel_for(
      "gradcomp::exchange::subtract", Kokkos::RangePolicy<Exec>(exec, 0, static_cast<index_t>(x.size())),
      KOKKOS_LAMBDA(const index_t i) { x(i) -= y[i]; });
}

/// Squared distance of x to y and squared norm of y.
std::pair<double, double> distance(const Exec& exec, const Span<const float>& x, const Span<const float>& y) {
  double difference = 0, norm = 0;
  Kokkos::parallel_reduce(
      "gradcomp::exchange::distance", Kokkos::RangePolicy<Exec>(exec, 0, static_cast<index_t>(x.size())),
      KOKKOS_LAMBDA(const index_t i, double& d, double& n) {
        const double delta = static_cast<double>(x(i)) - static_cast<double>(y(i));
        d += delta * delta;
        n += static_cast<double>(y(i)) * static_cast<double>(y(i));
      },
      difference, norm);
  return {difference, norm};
}

Layout layer_like(index_t elements) {
  index_t columns = 1;
  while (4 * columns * columns <= elements) columns *= 2;
  Layout layout;
  if (columns > 1) layout.add("matrix", {elements / columns, columns});
  if (const index_t rest = elements - layout.count(); rest > 0 || layout.segments.empty()) layout.add("rest", {rest});
  return layout;
}

std::string with_option(const std::string& spec, const std::string& key, const std::string& value) {
  const auto plus = spec.find('+');
  const std::string first = spec.substr(0, plus), rest = plus == std::string::npos ? "" : spec.substr(plus);
  const std::string wanted = ":" + key + "=";
  const auto begin = first.find(wanted);
  if (begin == std::string::npos) return first + wanted + value + rest;
  const auto end = first.find(':', begin + 1);
  return first.substr(0, begin) + wanted + value + (end == std::string::npos ? "" : first.substr(end)) + rest;
}

namespace {

/// One case: the gradient of this rank and what comes back.
struct Case {
  Case(const Exec& on, index_t elements, Communicator& checks)
      : exec(on),
        control(checks),
        layout(layer_like(elements)),
        gradient("gradcomp::exchange::gradient", static_cast<std::size_t>(elements)),
        out("gradcomp::exchange::out", gradient.size()) {}

  StepReport reduce(Schedule& schedule, std::int64_t step) {
    schedule.begin_step(exec, gradient, step, nullptr);
    schedule.on_ready(exec, 0);
    return schedule.end_step(exec, out);
  }

  /// The sum over ranks of `x`, in place.
  void sum(const Vector<float>& x) {
    control.allreduce(exec, x.data(), x.data(), static_cast<index_t>(x.size()), DType::f32, ReduceOp::sum)->wait(exec);
  }

  const Exec& exec;
  Communicator& control;
  Layout layout;
  Vector<float> gradient, out;
};

void time_it(Case& c, Schedule& schedule, const ReductionOptions& options, ReductionResult& result) {
  for (index_t i = 0; i < options.warmup + options.repetitions; ++i) {
    c.exec.fence("gradcomp::exchange::measure_reduction");
    c.control.barrier();
    Stopwatch watch(c.exec);
    watch.start();
    result.report = c.reduce(schedule, i);
    const double seconds = watch.stop();
    require(!result.report.skipped, "a repetition was skipped although all gradients are finite");
    if (i < options.warmup) continue;
    result.times_ms.push_back(1e3 * seconds);
    const auto& ratios = result.report.density_ratio;
    result.density_ratio.insert(result.density_ratio.end(), ratios.begin(), ratios.end());
  }
  result.times_ms = max_over_ranks(c.control, result.times_ms);
}

/// ||out - mean gradient|| / ||mean gradient|| of what was reduced last.
double relative_error(Case& c) {
  const Vector<float> mean("gradcomp::exchange::mean", c.gradient.size());
  sent_share(c.exec, c.gradient, nullptr, c.control.size(), mean);
  c.sum(mean);
  const auto [difference, norm] = distance(c.exec, c.out, mean);
  return norm > 0 ? std::sqrt(difference / norm) : 0;
}

/// The memory called `name` of a bucket; null where there is none.
const float* memory_of(Schedule& schedule, std::size_t bucket, const char* name) {
  for (const StateView& view : schedule.persistent()) {
    if (view.name == fmt::format("bucket{}/{}", bucket, name)) return static_cast<const float*>(view.data);
  }
  return nullptr;
}

/// Fills `wrong` and `relative_error` from a first step of `schedule`, whose memories are still empty.
void check_it(Case& c, Schedule& schedule, const MethodSpec& method, ReductionResult& result) {
  const Info& info = method.compressor->info();
  // 16-bit sums are rounded once more, behind the residual: half a unit of bf16's last place
  const float relative = info.property == Info::Property::rounding ? 0x1p-8f : 1e-4f;
  c.reduce(schedule, 0);
  const auto buckets = schedule.buckets();
  Vector<float> expected("gradcomp::exchange::expected", c.gradient.size());
  for (std::size_t b = 0; b < buckets.size(); ++b) {
    const auto part = subspan<float>(expected, buckets[b].offset, buckets[b].count);
    sent_share(c.exec, subspan<float>(c.gradient, buckets[b].offset, buckets[b].count),
               memory_of(schedule, b, "residual"), c.control.size(), part);
    if (const float* const owned = memory_of(schedule, b, "owner_residual"); owned != nullptr) {
      const Layout tensors = c.layout.slice(buckets[b].first, buckets[b].last);
      const auto stripes = cut_stripes(method.common.text("granularity") == "bucket" ? tensors.fused() : tensors,
                                       info.granule, c.control.size());
      subtract(c.exec, part_of(part, stripes[static_cast<std::size_t>(c.control.rank())]), owned);
    }
  }
  c.sum(expected);
  result.relative_error = relative_error(c);
  result.wrong = sum_over_ranks(c.control, {count_wrong(c.exec, expected, c.out, relative)})[0];
}

}  // namespace

ReductionResult measure_reduction(const Exec& exec, const std::string& method, index_t elements, Communicator& comm,
                                  Communicator& control, const ReductionOptions& options) {
  Case c(exec, elements, control);
  fill_laplace(exec, c.gradient, options.seed, control.rank());
  ScheduleOptions schedule_options;
  schedule_options.schedule = options.schedule;
  schedule_options.seed = options.seed;
  const MethodSpec timed = parse_method(method);
  ReductionResult result;
  time_it(c, *make_schedule(timed, c.layout, comm, schedule_options), options, result);
  if (timed.common.text("reducer") == "local") return result;  // the bound reduces nothing
  const Info& info = timed.compressor->info();
  if (!info.takes("residual")) {  // nothing to add up with
    const bool signs = info.property == Info::Property::sign;
    result.wrong = signs ? count_no_signs(exec, c.out) : kernels::count_non_finite(exec, c.out);
    result.relative_error = relative_error(c);
    return result;
  }
  const MethodSpec checked = parse_method(with_option(method, "feedback", "residual"));
  check_it(c, *make_schedule(checked, c.layout, control, schedule_options), checked, result);
  return result;
}

}  // namespace gradcomp
