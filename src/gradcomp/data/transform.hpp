#pragma once
// Turns bytes into the input of a network: optional augmentation (a random crop of the zero-padded image, which may be
// mirrored), then normalisation per channel. The draws of the augmentation depend only on (seed, epoch, sample), not on
// rank or batch.
#include <cstdint>
#include <span>
#include <vector>

#include "gradcomp/data/dataset.hpp"

namespace gradcomp::data {

struct TransformOptions {
  bool augment = false;  ///< the standard recipe for CIFAR (He et al. 2016); not for digits (ImageData::mirror)
  index_t padding = 4;   ///< black pixels on each side before the crop
  std::uint64_t seed = 1;
};

class Transform {
 public:
  /// Normalises with data.mean and data.std. Throws Error if they do not have one value per channel, or for a negative
  /// padding.
  Transform(const ImageData& data, const TransformOptions& options = {});

  /// Sets images[i] to (pixels / 255 - mean) / std of sample indices[i], and labels[i] to its class. `images` has the
  /// shape [indices.size()][height][width][channels] (NHWC), and `labels` has indices.size() elements. `epoch` selects
  /// the draws of the augmentation. Safe on any thread, because it does not use Kokkos. Throws Error for a sample that
  /// is not in the set, or for other sizes.
  void fill(const ImageSet& set, std::span<const index_t> indices, index_t epoch, std::span<float> images,
            std::span<std::int32_t> labels) const;

 private:
  void fill_one(const ImageSet& set, index_t sample, index_t epoch, float* out, std::vector<std::uint8_t>& row) const;

  TransformOptions m_options;
  std::vector<float> m_scale, m_offset;  ///< for one row of an image, so that a byte takes one multiply-add
};

}  // namespace gradcomp::data
