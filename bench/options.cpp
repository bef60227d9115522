#include "options.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "gradcomp/core/allowed.hpp"
#include "gradcomp/core/version_config.hpp"
#include "gradcomp/data/files.hpp"
#include "gradcomp/nn/networks/shapes.hpp"
#include "gradcomp/program/program.hpp"

namespace gradcomp::bench {
namespace {

constexpr index_t largest_size = index_t{1} << 32;
constexpr int quick_samples = 5;

void define(CLI::App& app, BenchOptions& options) {
  app.add_option("--methods", options.methods,
                 "method specs, separated by commas (default: every method with its defaults)");
  app.add_option("--sizes,--size", options.sizes,
                 "sizes of the gradient in elements, separated by commas (default: 65536,1048576,16777216)")
      ->delimiter(',')
      ->check(CLI::Range(index_t{1}, largest_size));
  app.add_option("--data", options.data,
                 "laplace (synthetic, with the sizes of --sizes) or .npy files with gradients, separated by commas; "
                 "A.npy+B.npy: a stream")
      ->delimiter(',')
      ->default_str("laplace");
  app.add_option(
         "--stream", options.stream,
         "number of slowly changing gradients that calls of a method use in turn (of files: those given with +);\n"
         "1: always the same gradient, the best case for methods that remember a threshold")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  app.add_option("--senders", options.senders,
                 "number of different messages that decompress and pair add up, as where they are gathered")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  app.add_option("--residual", options.residual, "error feedback: on, off, or each method's default")
      ->check(CLI::IsMember({"on", "off", "default"}))
      ->capture_default_str();
  app.add_option("--cache", options.cache, "cold: overwrite the last-level cache before every timed call")
      ->check(CLI::IsMember({"warm", "cold"}))
      ->capture_default_str();
  app.add_option("--filter", options.filter, "run only cases whose name contains a match of this regular expression")
      ->capture_default_str();
  app.add_option("--samples", options.samples,
                 "number of timed calls per case (default: 10 to 200, depending on the size)")
      ->check(CLI::Range(1, 1000000));
  app.add_option("--threads", options.threads,
                 "number of threads of Kokkos (default: --kokkos-num-threads or Kokkos' choice)")
      ->check(CLI::Range(1, 4096));
  app.add_option("--memory", options.memory_gb,
                 "GB of memory that a case may use (default: the free memory); larger cases are left out")
      ->check(CLI::Range(1e-6, 1e9));
  app.add_option("--seed", options.seed, "seed of the synthetic gradient and of the methods")->capture_default_str();
  app.add_option("--output", options.output, "write the results to this JSON file (docs/results-schema.md)");
  app.add_option(
      "--dump-models", options.model_folder,
      "write the weights, the batch and the losses of every train_step case to a folder in this existing one, "
      "for other frameworks");
  app.add_flag("--interleave", options.interleave,
               "run the cases of a size in up to 5 rounds, each in a random order (from --seed), instead of one after "
               "the other");
  auto* quick = app.add_flag("--quick", options.quick,
                             "5 samples per case, sizes 65536,1048576; a check that takes less than 2 minutes, not a "
                             "measurement");
  auto* full = app.add_flag("--full", options.full,
                            "run the sizes 2^10, 2^12 .. 2^26, 2^27, 270000, 25500000 and those of the tensors of "
                            "ResNet-18");
  app.add_flag("--machine", options.machine,
               "run only the limits of the machine: read, write, update, copy, triad, sgemm")
      ->excludes("--methods");
  app.add_flag("--list", options.list, "print the names of all cases and end");
  full->excludes(quick)->excludes("--sizes");
}

void fill_defaults(const CLI::App& app, BenchOptions& options) {
  if (options.data.empty()) options.data = {"laplace"};
  if (!options.model_folder.empty()) data::require_writable_folder(options.model_folder);
  const bool synthetic = std::count(options.data.begin(), options.data.end(), "laplace") > 0;
  require(synthetic || (app.count("--sizes") == 0 && !options.full),
          "--sizes and --full apply only to the synthetic gradient; --data has only files; add laplace");
  if (options.quick && options.samples == 0) options.samples = quick_samples;
  if (!synthetic) return;
  if (options.full) options.sizes = full_sizes();
  require_distinct("--sizes", options.sizes);
  if (!options.sizes.empty()) return;
  options.sizes = {1 << 16, 1 << 20};
  if (!options.quick) options.sizes.push_back(1 << 24);
}

}  // namespace

report::Json BenchOptions::json() const {
  return {
      {"sizes", sizes},   {"data", data},         {"stream", stream}, {"senders", senders}, {"methods", methods},
      {"filter", filter}, {"residual", residual}, {"cache", cache},   {"samples", samples}, {"threads", threads},
      {"seed", seed},     {"quick", quick},       {"full", full},     {"machine", machine}, {"interleave", interleave}};
}

std::vector<index_t> full_sizes() {
  std::vector<index_t> sizes = {index_t{1} << 27, 270'000, 25'500'000};
  for (int power = 10; power < 27; power += 2) sizes.push_back(index_t{1} << power);
  for (const auto& tensor : nn::model_shapes("resnet18").segments) sizes.push_back(tensor.count);
  std::sort(sizes.begin(), sizes.end());
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  return sizes;
}

std::optional<int> parse(int argc, char** argv, BenchOptions& options) {
  CLI::App app(
      "Measures the time of compressors, of their kernels and of the machine's limits, on one rank and without\n"
      "communication. Every answer is verified. To compare machines, use the time divided by the time to read the\n"
      "gradient once (read_limit_ratio). Also takes --kokkos-* options.",
      "gradcomp-bench");
  app.set_version_flag("--version", std::string("gradcomp-bench ") + GRADCOMP_VERSION);
  define(app, options);
  if (const auto status = gradcomp::parse(app, argc, argv)) return status;
  fill_defaults(app, options);
  return std::nullopt;
}

}  // namespace gradcomp::bench
