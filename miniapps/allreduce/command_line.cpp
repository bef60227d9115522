#include "command_line.hpp"

#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <optional>

#include "gradcomp/core/allowed.hpp"
#include "gradcomp/core/spec_part.hpp"
#include "gradcomp/exchange/one_rank.hpp"
#include "gradcomp/exchange/reducer.hpp"
#include "gradcomp/exchange/registry.hpp"
#include "gradcomp/method/spec.hpp"
#include "gradcomp/program/program.hpp"
#include "shared/former_options.hpp"
#include "shared/training_options.hpp"

using namespace gradcomp;

namespace {

constexpr index_t max_elements = index_t{1} << 31;

/// A range of sizes, as nccl-tests defines it.
struct Range {
  std::optional<std::uint64_t> least, most;
  std::uint64_t factor = 4;
};

void add_sizes(CLI::App& app, CommandLine& line, Range& range) {
  auto* sizes = app.add_option("--sizes", line.sizes, "sizes of the gradient in elements, separated by commas")
                    ->delimiter(',')
                    ->check(CLI::Range(index_t{0}, max_elements));
  auto* least = app.add_option("--minbytes", range.least,
                               "size of the smallest gradient in bytes, for example 8; replaces --sizes");
  auto* most = app.add_option("--maxbytes", range.most,
                              "size of the largest gradient in bytes, for example 1G (K, M and G are powers of 1024)");
  auto* factor = app.add_option("--stepfactor", range.factor, "factor from one size to the next");
  for (auto* bytes : {least, most}) bytes->transform(CLI::AsSizeValue(false))->excludes(sizes);
  least->needs(most);
  most->needs(least);
  factor->needs(least);
}

}  // namespace

std::vector<index_t> sizes_between(std::uint64_t least, std::uint64_t most, std::uint64_t factor) {
  constexpr std::uint64_t limit = 4 * static_cast<std::uint64_t>(max_elements);
  require(least >= 4 && least <= most && most <= limit,
          "--minbytes {} and --maxbytes {} are not allowed; both must be from 4 to {}, and --minbytes the smaller one",
          least, most, limit);
  require(factor >= 2, "--stepfactor {} is not allowed; it must be at least 2", factor);
  std::vector<index_t> sizes;
  for (std::uint64_t bytes = least; bytes <= most; bytes *= factor) sizes.push_back(static_cast<index_t>(bytes / 4));
  return sizes;
}

std::vector<MethodSpec> methods_with(const std::string& methods, const std::string& reducers) {
  std::vector<MethodSpec> specs = parse_methods(methods);
  if (reducers.empty()) return specs;
  const std::vector<std::string> chosen = reducers == "all" ? std::vector<std::string>() : split_words(reducers, ',');
  for (const std::string& name : chosen) find_by_name(all_reducers(), "reducer", name);
  std::vector<std::string> texts;
  for (const MethodSpec& spec : specs) {
    const auto before = texts.size();
    for (const std::string& name : reducers_of(spec.compressor->info())) {
      const bool wanted = chosen.empty() ? name != "local" || name == spec.compressor->info().reducer
                                         : std::find(chosen.begin(), chosen.end(), name) != chosen.end();
      if (!wanted) continue;
      texts.push_back(with_option(spec.text, "reducer", name));
    }
    require(texts.size() > before, "method '{}': none of --reducers {} can carry it; allowed: {}", spec.text, reducers,
            fmt::join(reducers_of(spec.compressor->info()), ", "));
  }
  return parse_methods(fmt::format("{}", fmt::join(texts, ",")));
}

std::optional<int> parse_command_line(int argc, char** argv, bool prints, CommandLine& line) {
  Range range;
  CLI::App app{
      "Reduces a gradient over all ranks, with each method and size. Prints time, bandwidth and bytes, and checks the "
      "answer.",
      "gradcomp-allreduce"};
  begin_options(app);
  add_sizes(app, line, range);
  add_methods(app, line.methods);
  app.add_option("--reducers", line.reducers,
                 "names of reducers, separated by commas, or all: each method runs with each of them that can carry "
                 "it; all leaves out local, which sends nothing; default: the method's own reducer");
  app.add_option("--repetitions", line.reduction.repetitions, "number of timed repetitions of each case")
      ->check(CLI::Range(index_t{1}, index_t{1000000}));
  app.add_option("--untimed", line.reduction.untimed, "repetitions before the timed ones")
      ->check(CLI::Range(index_t{0}, index_t{1000000}));
  renamed_option(app, "--warmup", "--untimed");
  renamed_option(app, "--time-limit", "--timeout");
  app.add_option("--density-tolerance", line.density_tolerance,
                 "fail if a method's median of achieved / target density is further from 1 than this; 0: off")
      ->check(CLI::Range(0.0, 1e6));
  app.add_flag("--raw", line.raw, "also time MPI_Allreduce of as many floats; not possible over an emulated link");
  app.add_flag(
      "--numerics", line.numerics,
      "also print how far the means of dense methods are from the exact mean: on these ranks, and by simulation "
      "on 2 to 512");
  app.add_option("--seed", line.reduction.seed, "seed of the gradients and of randomised compressors");
  add_transport(app, line.transport);
  app.add_option("--timeout", line.reduction.limit_seconds,
                 "seconds that a rank waits for the others before the job ends; 0: for ever; a limit moves calls to a "
                 "thread of their own, which costs time; --raw has no limit")
      ->check(CLI::Range(0.0, 1e7));
  app.add_option("--link", line.link, "emulate a link, for example 100Mbit/s,50us; default: the real link");
  app.add_flag("--wide", line.wide, wide_help);
  app.add_option("--output", line.output, "result file (JSON)");
  moved_option(app, "--list", "gradcomp-methods");
  if (const auto status = parse(app, argc, argv, prints)) return status;
  if (range.least) line.sizes = sizes_between(*range.least, *range.most, range.factor);
  require_distinct("--sizes", line.sizes);
  require(!line.raw || (line.link.empty() && split_words(line.transport, ':').front() == "mpi"),
          "--raw measures MPI over the real link; not allowed with --link or --transport {}", line.transport);
  return std::nullopt;
}
