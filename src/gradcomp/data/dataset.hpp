#pragma once
// Image data sets in host memory, as bytes. Every reader and generator of images returns an ImageData, and batches are
// made from it (sampler.hpp, transform.hpp).
#include <cstdint>
#include <string>
#include <vector>

#include "gradcomp/core/types.hpp"

namespace gradcomp::data {

/// Labelled images of one shape.
struct ImageSet {
  index_t height = 0, width = 0, channels = 0, classes = 0;
  std::vector<std::uint8_t> pixels;   ///< count() images, each height x width x channels (HWC), 0 to 255
  std::vector<std::uint16_t> labels;  ///< count() values below classes

  index_t count() const { return static_cast<index_t>(labels.size()); }
  /// Bytes of one image.
  index_t image_size() const { return height * width * channels; }
  const std::uint8_t* image(index_t i) const { return pixels.data() + i * image_size(); }
};

/// The training, validation and test set, and what a result record says about them.
struct ImageData {
  ImageSet train, validation, test;
  std::string name;              ///< "cifar10", "digits", ... or the canonical shapetex10 spec; never a path
  std::vector<float> mean, std;  ///< mean and standard deviation per channel of the training set, pixels in 0..1
  std::string crc;      ///< cyclic redundancy check, CRC-32 (8 hex digits), of the training, validation and test
                        ///< set: the pixels, then the labels of each, as bytes or, if there are more than 256
                        ///< classes, as 16-bit words
  bool mirror = false;  ///< mirrored images keep their class, so that augmentation makes sense
};

/// Opens the data set of images that `spec` names (data/datasets/), and fills in mean, std and crc. Throws Error (one
/// line: what, where, what is allowed).
ImageData open_dataset(const std::string& spec);

/// Fills in mean, std and crc of `data`. A channel whose pixels are all equal gets std 1.
void describe(ImageData& data);

/// Takes the images for validation (split.hpp) out of `train` and returns them. Throws Error if `train` has fewer than
/// 2 images.
ImageSet hold_out(ImageSet& train);

/// Returns `data` with the images that hold_out() takes from its training set as its validation set.
ImageData with_validation(ImageData data);

/// Returns `data` with three channels in its training and test set, as the models need, and with this name and
/// ImageData::mirror.
ImageData in_colour(ImageData data, const std::string& name, bool mirror);

/// Turns the channel of grey images into three equal channels. Sets with more channels stay as they are.
void to_three_channels(ImageSet& set);

}  // namespace gradcomp::data
