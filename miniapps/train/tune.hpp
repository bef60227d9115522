#pragma once
// gradcomp-train --tune: finds learning rates and bucket sizes for later runs.
#include "gradcomp/report/progress.hpp"
#include "gradcomp/train/bucket_sweep.hpp"
#include "gradcomp/train/tuning.hpp"

/// Tunes the learning rates that are missing in the file options.rates. If the job has controls, also times the dense
/// controls with different bucket sizes. Replaces the file after every trial. Rank 0 prints the chosen rates.
void tune(const gradcomp::Exec& exec, const gradcomp::train::Job& job,
          const std::vector<gradcomp::train::Contender>& contenders, gradcomp::report::ProgressBar& bar);
