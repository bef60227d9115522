#pragma once
// Quality of one replica: the validation or the test set, sharded over the ranks, and the hash that tells replicas
// apart.

#include "gradcomp/train/job.hpp"

namespace gradcomp::train {

/// Device buffers of one batch; host builds read the loader's arrays in place.
class DeviceBatch {
 public:
  /// Valid until the next call, and while `batch` lives. Allocates where a batch is larger than all before.
  nn::Batch<float> upload(const Exec& exec, const data::Batch& batch);

 private:
  Vector<float> m_images, m_weights;
  Vector<std::int32_t> m_labels, m_tokens;
};

/// Loss and hits of `parameters` on the whole validation or test set, summed over ranks. `state` may change: a copy of
/// the trainer's. Collective.
nn::Loss evaluate_held_out(const Exec& exec, const Job& job, data::Split split, DeviceBatch& buffers,
                           const Span<const float>& parameters, const Span<float>& state);

/// The sum over ranks; losses to 1e-6 nats, NaN where some rank's is not finite (or above 1e12). Collective.
nn::Loss sum_over_ranks(Transport& comm, const nn::Loss& loss);

/// FNV-1a of the bytes: equal arrays, equal hashes.
std::uint64_t content_hash(const Span<const float>& x);

}  // namespace gradcomp::train
