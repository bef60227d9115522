#pragma once
// gradcomp-train --tune: learning rates and bucket sizes for later runs.
#include "gradcomp/report/progress.hpp"
#include "gradcomp/train/bucket_sweep.hpp"
#include "gradcomp/train/tuning.hpp"

/// Tunes what the file options.rates lacks, times the dense controls' buckets where the job has controls, replaces the
/// file after every trial, and prints the chosen rates on rank 0.
void tune(const gradcomp::Exec& exec, const gradcomp::train::Job& job,
          const std::vector<gradcomp::train::Contender>& contenders, gradcomp::report::ProgressBar& bar);
