// The computation that communication competes with: forward and backward of a model, compared with the sgemm peak of
// the machine.
#include <cmath>

#include "case.hpp"
#include "gradcomp/core/copies.hpp"
#include "gradcomp/core/error.hpp"
#include "gradcomp/data/files.hpp"
#include "gradcomp/measure/stopwatch.hpp"
#include "gradcomp/nn/make_model.hpp"
#include "gradcomp/train/batch_dump.hpp"
#include "gradient.hpp"

namespace gradcomp::bench {
namespace {

/// A model and the batches that it trains on.
struct Workload {
  const char* name;
  int samples;  ///< images or sequences of a batch
  InputShape input;
  bool quick = false;  ///< a step takes about 100 ms, and not seconds
};

const Workload workloads[] = {
    {"resnet20", 128, InputShape::of_images(32, 32, 10), true},
    {"resnet20_b", 128, InputShape::of_images(32, 32, 10)},
    {"resnet110", 128, InputShape::of_images(32, 32, 10)},
    {"resnet18", 128, InputShape::of_images(32, 32, 10)},
    {"vgg11", 128, InputShape::of_images(32, 32, 10)},
    {"lstm_1x128", 64, {InputShape::Kind::tokens, 0, 0, 0, 32, 0, 2000}},
    {"lstm_2x200", 20, {InputShape::Kind::tokens, 0, 0, 0, 35, 0, 10000}},
    {"lstm_2x650", 20, {InputShape::Kind::tokens, 0, 0, 0, 35, 0, 10000}},
    {"transformer_2x128", 64, {InputShape::Kind::tokens, 0, 0, 0, 32, 0, 2000}},
    {"frames_lstm_2x128", 128, {InputShape::Kind::frames, 0, 0, 0, 50, 40, 12}},
};

/// `count` numbers below `classes`, in an order without a pattern from which a cache would profit.
Vector<std::int32_t> labels_below(index_t classes, index_t count) {
  const Vector<std::int32_t> labels("gradcomp::bench::labels", static_cast<std::size_t>(count));
  const auto host = Kokkos::create_mirror_view(labels);
  for (index_t i = 0; i < count; ++i) host(i) = static_cast<std::int32_t>(i * 7919 % classes);
  Kokkos::deep_copy(labels, host);
  return labels;
}

constexpr int dumped_steps = 10;
constexpr float dumped_rate = 0.001f;  // larger ones let VGG-11 amplify roundings

void descend(const Exec& exec, const Vector<float>& parameters, const Vector<float>& gradient) {
  Kokkos::parallel_for(
      "gradcomp::bench::descend", IndexRange(exec, 0, static_cast<index_t>(parameters.size())),
      KOKKOS_LAMBDA(const index_t i) { parameters(i) -= dumped_rate * gradient(i); });
}

/// Writes the weights, the batch and the losses of ten steps of plain gradient descent on this batch to a folder of the
/// model's name (train::ModelDump). Parameters and statistics have their initial values, and are changed.
void dump_model(Session& session, const Workload& workload, nn::Model<float>& model, const Vector<float>& parameters,
                const Vector<float>& statistics, const Vector<float>& gradient, const nn::Batch<float>& batch) {
  const std::string folder = session.options.model_folder + "/" + workload.name;
  data::require_writable_folder(folder);
  train::ModelDump dump{workload.name, workload.samples, workload.input, model.layout(), {}, {}, {}, {}, {}};
  dump.parameters = to_host(session.exec, parameters);
  dump.add(session.exec, batch);
  for (int step = 0; step < dumped_steps; ++step) {
    dump.losses.push_back(
        model.train_step(session.exec, Span<const float>(parameters), statistics, batch, gradient).mean());
    descend(session.exec, parameters, gradient);
  }
  dump.write(folder, {{"rate", dumped_rate}});
}

void run_train_step(benchmark::State& state, Session& session, report::Row row, const Workload& workload) {
  const double peak = session.sgemm_peak();
  const InputShape& input = workload.input;
  const bool texts = input.kind == InputShape::Kind::tokens;
  const auto model = nn::make_model<float>(workload.name, input, workload.samples);
  const auto parameter_count = static_cast<std::size_t>(model->layout().count());
  Vector<float> parameters("gradcomp::bench::parameters", parameter_count);
  Vector<float> gradient("gradcomp::bench::parameter_gradient", parameter_count);
  Vector<float> statistics("gradcomp::bench::statistics", static_cast<std::size_t>(model->buffer_count()));
  const auto initial = Kokkos::create_mirror(parameters);
  const auto initial_statistics = Kokkos::create_mirror(statistics);
  model->initialise(session.options.seed, initial, initial_statistics);
  Kokkos::deep_copy(parameters, initial);
  Kokkos::deep_copy(statistics, initial_statistics);
  const index_t elements = texts ? 0 : workload.samples * model->image_size();
  const index_t units = texts ? workload.samples * input.length : workload.samples;  // the units of step_flops()
  const auto images = laplace_gradient(session.exec, elements, session.options.seed);
  const auto labels = labels_below(input.classes, units), tokens = texts ? labels : Vector<std::int32_t>();

  std::vector<double> times_ms;
  Stopwatch watch(session.exec);
  nn::Loss loss;
  const auto once = [&] {
    watch.start();
    loss =
        model->train_step(session.exec, Span<const float>(parameters), statistics, {images, labels, tokens}, gradient);
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

  if (!session.options.model_folder.empty()) {
    Kokkos::deep_copy(parameters, initial);
    Kokkos::deep_copy(statistics, initial_statistics);
    dump_model(session, workload, *model, parameters, statistics, gradient, {images, labels, tokens});
  }
  const double rate = 1e-6 * model->step_flops() * static_cast<double>(units) / report::quantile(times_ms, 0.5);
  row.set("operation", "train_step").set("elements", model->layout().count()).set("gflop_per_second", rate);
  row.set("sgemm_peak_ratio", rate / peak);
  row.times("time_ms", "times_ms", times_ms).set("gb_per_second", nullptr).set("verified", true);
  session.rows.push_back(std::move(row));
}

}  // namespace

void add_model_cases(Session& session) {
  for (const Workload& workload : workloads) {
    if (session.options.quick && !workload.quick) continue;
    const auto body = [&session, &workload](benchmark::State& state, report::Row row) {
      run_train_step(state, session, std::move(row), workload);
    };
    const std::string name = fmt::format("train_step/{}/batch{}", workload.name, workload.samples);
    add_case(session, {name, index_t{1} << 23, body});
  }
}

}  // namespace gradcomp::bench
