#include "options.hpp"

#include <CLI/CLI.hpp>

#include "gradcomp/core/error.hpp"
#include "gradcomp/core/version_config.hpp"

namespace gradcomp::bench {

report::Json BenchOptions::json() const {
  return {{"sizes", sizes},     {"methods", methods}, {"filter", filter},
          {"samples", samples}, {"seed", seed},       {"quick", quick}};
}

std::optional<int> parse(int argc, char** argv, BenchOptions& options) {
  CLI::App app(
      "Time of every compressor and of the machine's limits, on one rank and without communication.\n"
      "Each answer is verified; the figure to compare between machines is the time over the time to read the\n"
      "gradient once (read_limit_ratio). Takes --kokkos-* options too.",
      "gradcomp-bench");
  app.set_version_flag("--version", std::string("gradcomp-bench ") + GRADCOMP_VERSION);
  app.add_option("--methods", options.methods, "specs, separated by commas (default: every method with its defaults)");
  app.add_option("--sizes", options.sizes, "elements of a gradient (default: 65536,1048576,16777216)")
      ->delimiter(',')
      ->check(CLI::Range(index_t{1}, index_t{1} << 32));
  app.add_option("--filter", options.filter, "only cases whose name contains a match of this regular expression")
      ->capture_default_str();
  app.add_option("--samples", options.samples, "timed calls per case (default: by size, 10 to 200)")
      ->check(CLI::Range(1, 1000000));
  app.add_option("--seed", options.seed, "of the synthetic gradient and the methods")->capture_default_str();
  app.add_option("--output", options.output, "write the results to this JSON file (docs/results-schema.md)");
  app.add_flag("--quick", options.quick, "5 samples per case, sizes 65536,1048576: a check, not a measurement");
  app.add_flag("--list", options.list, "print the names of all cases and end");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);
    throw Error(error.what());
  }
  if (options.sizes.empty()) options.sizes = {1 << 16, 1 << 20};
  if (app.count("--sizes") == 0 && !options.quick) options.sizes.push_back(1 << 24);
  if (options.quick && options.samples == 0) options.samples = 5;
  return std::nullopt;
}

}  // namespace gradcomp::bench
