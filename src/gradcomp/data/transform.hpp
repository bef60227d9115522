#pragma once
// Bytes to network input: optional augmentation (random crop of the zero-padded image, mirror image), then
// normalisation per channel. Augmentation is keyed by (seed, epoch, sample): it does not depend on rank, batch or time.
#include <cstdint>
#include <span>
#include <vector>

#include "gradcomp/data/dataset.hpp"

namespace gradcomp::data {

struct TransformOptions {
  bool augment = false;  ///< the standard CIFAR recipe (He et al. 2016); senseless for digits (ImageData::mirror)
  index_t padding = 4;   ///< black pixels on each side before the crop
  std::uint64_t seed = 1;
};

class Transform {
 public:
  /// Normalises with the mean and deviation of `data` (its training set).
  Transform(const ImageData& data, const TransformOptions& options = {});

  /// images[i] (NHWC floats) = (pixels / 255 - mean) / std of sample indices[i], labels[i] its class; `epoch` keys the
  /// augmentation. Sizes: indices.size() x image_size() and indices.size(). No Kokkos: safe on any thread.
  void fill(const ImageSet& set, std::span<const index_t> indices, index_t epoch, std::span<float> images,
            std::span<std::int32_t> labels) const;

 private:
  void fill_one(const ImageSet& set, index_t sample, index_t epoch, float* out, std::vector<std::uint8_t>& row) const;

  TransformOptions m_options;
  std::vector<float> m_scale, m_offset;  ///< of one image row, so that the inner loop is one multiply-add per byte
};

}  // namespace gradcomp::data
