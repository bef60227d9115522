#pragma once
// Quality of one replica: the test set, sharded over the ranks, and the hash that tells replicas apart.
#include <span>
#include <vector>

#include "gradcomp/train/job.hpp"

namespace gradcomp::train {

/// Device buffers of one batch; host builds read the loader's arrays in place.
class DeviceBatch {
 public:
  /// Room for batches of up to `batch` images of `set`'s shape.
  DeviceBatch(const data::ImageSet& set, index_t batch);

  /// images: labels.size() x image_size floats. Valid until the next call, and while the arguments live.
  nn::Batch<float> upload(const Exec& exec, std::span<const float> images, std::span<const std::int32_t> labels);

 private:
  Vector<float> m_images;
  Vector<std::int32_t> m_labels;
};

/// Loss and hits of `parameters` on the whole test set, summed over ranks. Collective.
nn::Loss evaluate_test_set(const Exec& exec, const Job& job, DeviceBatch& buffers, const Span<const float>& parameters,
                           const Span<float>& state);

/// The sum over ranks; losses to 1e-6 nats. Collective.
nn::Loss sum_over_ranks(Communicator& comm, const nn::Loss& loss);

/// FNV-1a of the bytes: equal arrays, equal hashes.
std::uint64_t content_hash(const Vector<float>& x);

}  // namespace gradcomp::train
