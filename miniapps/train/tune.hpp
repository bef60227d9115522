#pragma once
// gradcomp-train --tune: learning rates for later runs.
#include "gradcomp/report/progress.hpp"
#include "gradcomp/train/tuning.hpp"

/// Tunes what the file options.rates lacks, replaces the file after every trial, and prints the chosen rates on rank 0.
void tune(const gradcomp::Exec& exec, const gradcomp::train::Job& job,
          const std::vector<gradcomp::train::Contender>& contenders, gradcomp::report::ProgressBar& bar);
