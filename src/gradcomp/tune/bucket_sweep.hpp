#pragma once
// Finds the bucket sizes and the reducer with which the dense controls are fastest. A speed-up over the best dense
// control means nothing if the control runs in buckets that do not suit it, or if its library chooses a slow algorithm.
#include <array>
#include <functional>

#include "gradcomp/train/job.hpp"
#include "gradcomp/tune/rates.hpp"

namespace gradcomp::tune {

/// In KiB; 0: sizes that follow from the model.
inline constexpr std::array<index_t, 5> swept_kib = {0, 256, 1024, 4096, 16384};

/// Whether the job's strategy has buckets of the size that a job or contender sets. Otherwise no size can be swept:
/// some strategies have no buckets, and bucket_kib=N of the strategy replaces every other size.
bool takes_bucket_size(const train::Options& options);

/// Throws Error if the job has controls, but its strategy takes no bucket size.
void check_bucket_sweep(const train::Options& options);

/// Gives the dense controls without options their fastest forms in `rates`, and notes if these were timed under other
/// conditions than those of the job. Does nothing if the job's strategy takes no bucket size: then no control is said
/// to run at its fastest one.
void take_forms(std::vector<train::Contender>& contenders, const Rates& rates, const train::Options& options);

/// Times the steps of the dense_forms() in buckets of each of these sizes, in turn, and adds the means that `rates`
/// does not have yet. Several links take turns, so that the mean is over all of them, each with as many steps. `added`
/// is called on every rank after each method. Collective.
void sweep_forms(const Exec& exec, const train::Job& job, Rates& rates, const std::function<void()>& added);

}  // namespace gradcomp::tune
