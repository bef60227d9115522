// gradcomp-bench-cub times CUB's selection and sorting, the alternatives to sparsifiers, on the gradient of
// gradcomp-bench. Every answer is verified.
#include <algorithm>
#include <cmath>
#include <functional>

#include "alternative.hpp"
#include "cub_selection.hpp"
#include "gradcomp/core/read_back.hpp"
#include "gradcomp/measure/stopwatch.hpp"
#include "gradcomp/report/row.hpp"
#include "gradient.hpp"

namespace gradcomp::bench {
namespace {

constexpr float scale = 1e-3F;  // of the gradient
constexpr double density = 0.01;

struct Options {
  std::vector<index_t> sizes = {1 << 20, 25'500'000};
  int samples = 50;
  std::string output;
};

/// Throws Error unless `kept` has `expected` entries, all different, and no other entry is larger than the smallest of
/// them.
void require_largest(const std::vector<float>& values, std::vector<int> kept, std::size_t expected, const char* what) {
  require(kept.size() == expected, "{} kept {} entries, expected {}", what, kept.size(), expected);
  std::vector<char> is_kept(values.size(), 0);
  for (const int i : kept) is_kept.at(static_cast<std::size_t>(i)) = 1;
  float smallest = HUGE_VALF, largest_left = 0;
  std::size_t marked = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const float magnitude = std::abs(values[i]);
    if (is_kept[i] != 0) smallest = std::min(smallest, magnitude);
    if (is_kept[i] == 0) largest_left = std::max(largest_left, magnitude);
    marked += is_kept[i] != 0 ? 1 : 0;
  }
  require(marked == expected && smallest >= largest_left, "{} kept wrong entries", what);
}

report::Json timed(const Exec& exec, const std::string& name, index_t elements, int samples,
                   const std::function<void()>& work) {
  std::vector<double> times;
  Stopwatch watch(exec);
  for (int i = -3; i < samples; ++i) {  // the first three calls are not counted
    watch.start();
    work();
    const double seconds = watch.stop();
    if (i >= 0) times.push_back(1e3 * seconds);
  }
  return {{"name", name}, {"elements", elements}, {"time_ms", report::summary(times)}};
}

void measure(const Exec& exec, index_t elements, int samples, report::Json& rows) {
  const Vector<float> gradient = laplace_gradient(exec, elements, 1);
  std::vector<float> host(gradient.size());
  read_back(exec, Span<const float>(gradient), host.data(), "gradcomp::bench::measure");
  const float threshold = scale * static_cast<float>(-std::log(density));
  const auto above = std::count_if(host.begin(), host.end(), [&](float x) { return std::abs(x) >= threshold; });
  const auto count = std::max<index_t>(1, static_cast<index_t>(density * static_cast<double>(elements)));

  CubThreshold select(exec, gradient, threshold, above);
  rows.push_back(timed(exec, "cub::DeviceSelect::If", elements, samples, [&] { select.run(); }));
  require_largest(host, select.kept(), static_cast<std::size_t>(above), "cub::DeviceSelect::If");
  CubTopK sort(exec, gradient, count);
  rows.push_back(timed(exec, "cub::DeviceRadixSort", elements, samples, [&] { sort.run(); }));
  require_largest(host, sort.kept(), static_cast<std::size_t>(count), "cub::DeviceRadixSort");
}

}  // namespace
}  // namespace gradcomp::bench

int main(int argc, char** argv) {
  using namespace gradcomp;
  bench::Options options;
  CLI::App app("Times CUB's selection and sorting on the gradient of gradcomp-bench.", "gradcomp-bench-cub");
  app.add_option("--sizes", options.sizes, "elements of a gradient")
      ->delimiter(',')
      ->check(CLI::Range(index_t{1}, index_t{2147483647}));
  app.add_option("--samples", options.samples, "timed calls")->check(CLI::Range(1, 1000000));
  app.add_option("--output", options.output, "write the times to this JSON file")->required();
  return bench::run_alternative(app, argc, argv, options.output, [&] {
    report::Json rows = report::Json::array();
    for (const index_t elements : options.sizes) bench::measure(Exec(), elements, options.samples, rows);
    return report::Json{{"cub_version", bench::cub_version()}, {"rows", rows}};
  });
}
