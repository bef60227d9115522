// gradcomp-bench-kokkos-kernels compares our low-rank and norm kernels with what one would write with Kokkos Kernels
// and, on a host, with its BLAS. Every answer is verified.
#include <algorithm>

#include "alternative.hpp"
#include "gradcomp/kernels/linear_algebra/blas.hpp"
#include "gradcomp/measure/stopwatch.hpp"
#include "gradcomp/nn/networks/shapes.hpp"
#include "gradcomp/report/context.hpp"
#include "gradcomp/report/result_file.hpp"
#include "gradcomp/report/table.hpp"
#include "kokkos_kernels/contender.hpp"

namespace gradcomp::bench {
namespace {

struct Options {
  std::string model = "resnet20";
  std::vector<int> ranks = {1, 4};
  int samples = 100;
  std::string output;
};

std::vector<Contender> all_contenders(const SharedBucket& bucket) {
  std::vector<Contender> all = our_contenders(bucket);
  const auto add = [&](std::vector<Contender> more) { std::move(more.begin(), more.end(), std::back_inserter(all)); };
  add(kokkos_blas_contenders(bucket));
  add(kokkos_batched_contenders(bucket));
  if constexpr (device_is_host) add(cblas_contenders(bucket));
  std::stable_sort(all.begin(), all.end(), [](const auto& x, const auto& y) { return x.operation < y.operation; });
  return all;
}

/// The milliseconds of every contender. The contenders run in turn, so that a disturbance affects all of them.
std::vector<std::vector<double>> times_ms(const Exec& exec, const std::vector<Contender>& contenders, int samples) {
  std::vector<std::vector<double>> times(contenders.size());
  Stopwatch watch(exec);
  for (int i = -3; i < samples; ++i) {  // the first three calls are not counted
    for (std::size_t c = 0; c < contenders.size(); ++c) {
      if (contenders[c].before) contenders[c].before();
      watch.start();
      contenders[c].work();
      const double seconds = watch.stop();
      if (i >= 0) times[c].push_back(1e3 * seconds);
    }
  }
  return times;
}

void measure(const Exec& exec, const Options& options, int rank, report::ResultFile& file, report::Table& table) {
  const auto contenders = all_contenders(std::make_shared<const Bucket>(exec, options.model, rank));
  const auto times = times_ms(exec, contenders, options.samples);
  double ours = 0;
  for (std::size_t c = 0; c < contenders.size(); ++c) {
    const Contender& contender = contenders[c];
    contender.check();
    const double median = report::quantile(times[c], 0.5);
    if (c == 0 || contenders[c - 1].operation != contender.operation) ours = median;
    report::Row row(fmt::format("{}/rank{}/{}", contender.operation, rank, contender.by));
    row.set("operation", contender.operation).set("rank", rank).set("by", contender.by);
    file.add(row.set("time_ms", report::summary(times[c])).set("ratio", median / ours));
    table.row({contender.operation, fmt::format("{}", rank), contender.by, report::format_number(1e3 * median),
               report::format_number(median / ours)});
  }
}

report::Json measure(const Options& options) {
  report::RunInfo info;
  info.program = "gradcomp-bench-kokkos-kernels";
  info.options = {{"model", options.model}, {"ranks", options.ranks}, {"samples", options.samples}};
  report::ResultFile file("", report::make_context(info));
  report::Table table({"operation", "rank", "by", "median us", "of ours"});
  for (const int rank : options.ranks) measure(Exec(), options, rank, file, table);
  fmt::print("{} ({})\n", kernels::blas_description(), Exec::name());
  table.print();
  return file.document();
}

}  // namespace
}  // namespace gradcomp::bench

int main(int argc, char** argv) {
  gradcomp::bench::Options options;
  CLI::App app("Compares the times of our low-rank and norm kernels with Kokkos Kernels and, on a host, its BLAS.",
               "gradcomp-bench-kokkos-kernels");
  app.add_option("--model", options.model, "the model whose tensors form the gradient")
      ->check(CLI::IsMember(gradcomp::nn::shape_names()))
      ->capture_default_str();
  app.add_option("--ranks", options.ranks, "ranks of the factors; with 1 the libraries multiply by vectors")
      ->delimiter(',')
      ->check(CLI::Range(1, 32))
      ->capture_default_str();
  app.add_option("--samples", options.samples, "timed calls")->check(CLI::Range(1, 1000000))->capture_default_str();
  app.add_option("--output", options.output, "write the times to this JSON file");
  return gradcomp::bench::run_alternative(app, argc, argv, options.output, [&] { return measure(options); });
}
