#pragma once
// Image data sets in host memory, as bytes: every reader and generator of this folder ends in an ImageData, and every
// batch starts from one (sampler.hpp, transform.hpp).
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

/// A training set, the sets to validate and to test on, and what a result record says of them.
struct ImageData {
  ImageSet train, validation, test;
  std::string name;              ///< "cifar10", "digits", ... or the canonical shapetex10 spec; never a path
  std::vector<float> mean, std;  ///< per channel over the training set, pixels scaled to 0..1
  std::string crc;               ///< CRC-32 (8 hex digits) of pixels, then labels, of train, validation and test set;
                                 ///< labels as bytes, or as 16-bit words where there are more than 256 classes
  bool mirror = false;           ///< mirrored images keep their class: augmentation makes sense
};

/// Opens what `spec` names, one of the data sets of images (data/datasets/). Mean, deviation and CRC are filled in.
/// Throws Error (one line: what, where, what is allowed).
ImageData open_dataset(const std::string& spec);

/// Fills mean, std and crc of `data` from its pixels. A channel without spread gets std 1.
void describe(ImageData& data);

/// Takes the images for validation out of `train` and returns them. Throws Error for fewer than 2 images.
ImageSet hold_out(ImageSet& train);

/// The same, with what hold_out() takes as the set to validate on.
ImageData with_validation(ImageData data);

/// With three channels, as the models take: grey images become three equal ones. `mirror`: ImageData::mirror.
ImageData in_colour(ImageData data, const std::string& name, bool mirror);

/// Turns a set of grey images (one channel) into three equal channels; other sets stay.
void to_three_channels(ImageSet& set);

}  // namespace gradcomp::data
