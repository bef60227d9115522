#include "gradcomp/allreduce/allreduce_benchmark.hpp"

#include <cmath>
#include <numeric>

#include "gradcomp/allreduce/numerics.hpp"
#include "gradcomp/allreduce/reduction_check.hpp"
#include "gradcomp/comm/over_ranks.hpp"
#include "gradcomp/core/read_back.hpp"
#include "gradcomp/exchange/one_rank.hpp"
#include "gradcomp/measure/samples.hpp"
#include "gradcomp/measure/stopwatch.hpp"
#include "gradcomp/method/spec.hpp"

namespace gradcomp {

/// Gradients are added as multiples of this, in whole numbers: without any rounding, in any order, over any transport.
constexpr double unit = 0x1p-40;

/// fixed = gradient / unit
void to_fixed_point(const Exec& exec, const Span<const float>& gradient, const Span<std::int64_t>& fixed) {
  Kokkos::parallel_for(
      "gradcomp::exchange::to_fixed_point", IndexRange(exec, 0, static_cast<index_t>(fixed.size())),
      KOKKOS_LAMBDA(const index_t i) {
        fixed(i) = static_cast<std::int64_t>(Kokkos::round(static_cast<double>(gradient(i)) / unit));
      });
}

/// ||mean - exact|| / ||exact|| with exact = sum x unit / ranks; 0 if exact is.
double distance_from(const Exec& exec, const Span<const std::int64_t>& sum, int ranks, const Span<const float>& mean) {
  double difference = 0, norm = 0;
  const double scale = unit / ranks;
  Kokkos::parallel_reduce(
      "gradcomp::exchange::distance_from", IndexRange(exec, 0, static_cast<index_t>(mean.size())),
      KOKKOS_LAMBDA(const index_t i, double& d, double& n) {
        const double exact = scale * static_cast<double>(sum(i)), delta = static_cast<double>(mean(i)) - exact;
        d += delta * delta;
        n += exact * exact;
      },
      difference, norm);
  return norm > 0 ? std::sqrt(difference / norm) : 0;
}

std::pair<double, double> distance(const Exec& exec, const Span<const float>& x, const Span<const float>& y) {
  double difference = 0, norm = 0;
  Kokkos::parallel_reduce(
      "gradcomp::exchange::distance", IndexRange(exec, 0, static_cast<index_t>(x.size())),
      KOKKOS_LAMBDA(const index_t i, double& d, double& n) {
        const double delta = static_cast<double>(x(i)) - static_cast<double>(y(i));
        d += delta * delta;
        n += static_cast<double>(y(i)) * static_cast<double>(y(i));
      },
      difference, norm);
  return {difference, norm};
}

namespace {

/// One case: the gradient of this rank, and the mean that it receives.
struct Case {
  Case(const Exec& on, index_t elements, Transport& checks)
      : exec(on),
        control(checks),
        layout(layer_like(elements)),
        gradient("gradcomp::exchange::gradient", static_cast<std::size_t>(elements)),
        out("gradcomp::exchange::out", gradient.size()) {}

  void reduce(Exchange& exchange, std::uint64_t seed, std::int64_t step) {
    exchange.begin(exec, gradient, out, {seed, step, control.rank(), control.size()}, nullptr);
    exchange.gradient_ready(exec, 0);
    exchange.finish(exec);
  }

  const Exec& exec;
  Transport& control;
  Layout layout;
  Vector<float> gradient, out;
};

/// ||out - mean gradient|| / ||mean gradient|| of the last reduction, with the exact mean.
double relative_error(Case& c) {
  const Vector<std::int64_t> fixed("gradcomp::exchange::fixed", c.gradient.size());
  to_fixed_point(c.exec, c.gradient, fixed);
  const auto count = static_cast<index_t>(fixed.size());
  run(c.control, c.exec, AllReduce{fixed.data(), fixed.data(), count, DType::i64, ReduceOp::sum});
  return distance_from(c.exec, fixed, c.control.size(), c.out);
}

double median(const std::vector<double>& times) { return Samples(times).median(); }

/// Times all repetitions. `check` covers the last one.
void time_it(Case& c, Exchange& exchange, const ReductionOptions& options, ReductionCheck& check,
             ReductionResult& result) {
  const index_t all = options.untimed + options.repetitions;
  for (index_t i = 0; i < all; ++i) {
    if (i + 1 == all) check.before();
    wait(c.exec, "gradcomp::exchange::measure_reduction");
    barrier(c.control);
    Stopwatch watch(c.exec);
    watch.start();
    c.reduce(exchange, options.seed, i);
    const double seconds = watch.stop();
    result.report = exchange.report();
    require(!exchange.diverged(), "allreduce benchmark: a repetition diverged although all gradients are finite");
    if (i == 0) result.relative_error = relative_error(c);
    if (i < options.untimed) continue;
    result.times_ms.push_back(1e3 * seconds);
    const auto& ratios = result.report.density_ratio;
    result.density_ratio.insert(result.density_ratio.end(), ratios.begin(), ratios.end());
  }
  const std::vector<double> own = result.times_ms;
  result.times_ms = max_over_ranks(c.control, own);
  result.rank_times = {median(min_over_ranks(c.control, own)), median(mean_over_ranks(c.control, own)),
                       median(result.times_ms)};
}

}  // namespace

double reduction_bytes(const MethodSpec& method, index_t elements, int ranks) {
  constexpr double bytes_per_element = 48;
  constexpr index_t some = 1 << 16;  // payloads grow with the gradient
  double gathered = 0;
  if (method.common.text("reducer") == "allgather") {
    const Layout seen = seen_by(method, layer_like(some));
    const auto state = method.compressor->prepare(seen);
    const index_t kept = std::accumulate(state->target.begin(), state->target.end(), index_t{0});
    gathered = 2.0 * ranks * static_cast<double>(method.compressor->payload_bytes(seen, kept)) / some;
  }
  return (bytes_per_element + gathered) * static_cast<double>(elements);
}

ReductionResult measure_reduction(const Exec& exec, const std::string& method, index_t elements, Transport& transport,
                                  Transport& control, const ReductionOptions& options) {
  Case c(exec, elements, control);
  fill_laplace(exec, c.gradient, options.seed, control.rank());
  ExchangeOptions exchange_options;
  exchange_options.overlapped = options.overlapped;
  exchange_options.bucket_bytes = auto_bucket_bytes;
  exchange_options.seed = options.seed;
  exchange_options.limit_seconds = options.limit_seconds;
  const MethodSpec timed = parse_method(method);
  ReductionResult result;
  const auto exchange = make_exchange(timed, c.layout, transport, exchange_options);
  ReductionCheck check(exec, timed, c.layout, c.gradient, *exchange, control, exchange_options);
  time_it(c, *exchange, options, check, result);
  result.wrong = check.wrong(options.untimed + options.repetitions - 1, c.out);
  return result;
}

}  // namespace gradcomp
