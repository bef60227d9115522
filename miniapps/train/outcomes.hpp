#pragma once
// The outcome of a comparison: rows of the result file, and tables. Neither judges: gradcomp-report does.
#include <cstdint>
#include <vector>

#include "gradcomp/report/result_file.hpp"
#include "gradcomp/train/result.hpp"

/// The results of one seed, in the order of the contenders.
struct Repeat {
  std::uint64_t seed = 0;
  std::vector<gradcomp::train::MethodResult> results;
};

/// What rows and tables say of the job. `links`: null if the link is real.
gradcomp::train::JobFacts job_facts(const gradcomp::train::Options& options, const gradcomp::data::Task& task,
                                    const gradcomp::train::EmulatedLinks* links);

/// Adds a row for every seed and contender.
void add_rows(gradcomp::report::ResultFile& file, const std::vector<Repeat>& repeats, gradcomp::train::JobFacts job);

/// Prints the tables of each seed.
void print(const std::vector<Repeat>& repeats, const gradcomp::train::JobFacts& job, const std::string& output);
