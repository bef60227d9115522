// The arithmetic that communication competes with: forward and backward of a model, beside the sgemm peak of the
// machine.
#include <cmath>

#include "case.hpp"
#include "gradcomp/core/error.hpp"
#include "gradcomp/kernels/blas.hpp"
#include "gradcomp/measure/stopwatch.hpp"
#include "gradcomp/nn/model.hpp"
#include "gradient.hpp"

namespace gradcomp::bench {
namespace {

constexpr int batch_size = 128, side = 32;

void run_train_step(benchmark::State& state, Session& session, report::Row row, const std::string& name) {
  const auto model = nn::make_model<float>(name, side, side, batch_size);
  const auto parameter_count = static_cast<std::size_t>(model->layout().count());
  Vector<float> parameters("gradcomp::bench::parameters", parameter_count);
  Vector<float> gradient("gradcomp::bench::parameter_gradient", parameter_count);
  Vector<float> statistics("gradcomp::bench::statistics", static_cast<std::size_t>(model->state_count()));
  const auto initial = Kokkos::create_mirror_view(parameters);
  const auto initial_statistics = Kokkos::create_mirror_view(statistics);
  model->initialise(session.options.seed, initial, initial_statistics);
  Kokkos::deep_copy(parameters, initial);
  Kokkos::deep_copy(statistics, initial_statistics);
  const auto images = laplace_gradient(session.exec, batch_size * model->image_size(), session.options.seed);
  const Vector<std::int32_t> labels("gradcomp::bench::labels", batch_size);  // all of class 0

  std::vector<double> times_ms;
  Stopwatch watch(session.exec);
  nn::Loss loss;
  const auto once = [&] {
    watch.start();
    loss = model->train_step(session.exec, Span<const float>(parameters), statistics,
                             {Span<const float>(images), Span<const std::int32_t>(labels)}, gradient);
    return watch.stop();
  };
  once();
  for (auto _ : state) {
    const double seconds = once();
    times_ms.push_back(1e3 * seconds);
    state.SetIterationTime(seconds);
  }
  const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), gradient);
  double norm = 0;
  for (std::size_t i = 0; i < host.size(); ++i) norm += static_cast<double>(host(i)) * static_cast<double>(host(i));
  require(std::isfinite(loss.mean()) && loss.mean() > 0 && std::isfinite(norm) && norm > 0,
          "wrong answer: loss {} and squared gradient norm {}", loss.mean(), norm);

  const double rate = 1e-6 * model->step_flops() * batch_size / report::quantile(times_ms, 0.5);
  row.set("operation", "train_step").set("elements", model->layout().count()).set("gflop_per_second", rate);
  row.set("sgemm_peak_ratio", rate / kernels::sgemm_peak(session.exec));
  row.times("time_ms", "times_ms", times_ms).set("gb_per_second", nullptr).set("verified", true);
  session.rows.push_back(std::move(row));
}

}  // namespace

void add_model_cases(Session& session) {
  struct Network {
    const char* name;
    bool quick;  ///< its step takes some 100 ms, not seconds
  };
  for (const Network& network : {Network{"resnet20", true},
                                 {"resnet20_b", false},
                                 {"resnet110", false},
                                 {"resnet18", false},
                                 {"vgg11", false}}) {
    if (session.options.quick && !network.quick) continue;
    const auto body = [&session, name = std::string(network.name)](benchmark::State& state, report::Row row) {
      run_train_step(state, session, std::move(row), name);
    };
    add_case(session, {fmt::format("train_step/{}/batch{}", network.name, batch_size), index_t{1} << 23, body});
  }
}

}  // namespace gradcomp::bench
