#pragma once
// Evaluates one replica on the validation or the test set, which is sharded over the ranks, and hashes its parameters
// to compare replicas.

#include "gradcomp/nn/device_batch.hpp"
#include "gradcomp/train/job.hpp"

namespace gradcomp::train {

/// Loss and hits of `parameters` on the whole validation or test set, summed over workers. `buffers` may change, so
/// pass a copy. Collective.
nn::Loss evaluate_held_out(const Exec& exec, const Job& job, data::Split split, nn::DeviceBatch& device,
                           const Span<const float>& parameters, const Span<float>& buffers);

/// The sum over ranks; losses to 1e-6 nats, NaN if the loss of some rank is not finite or above 1e12. Collective.
nn::Loss sum_over_ranks(Transport& comm, const nn::Loss& loss);

/// FNV-1a of the bytes: equal arrays have equal hashes.
std::uint64_t content_hash(const Span<const float>& x);

}  // namespace gradcomp::train
