#pragma once
// Sequences of feature frames with one label each, in host memory. Keyword spotting has such data.
#include <cstdint>
#include <string>
#include <vector>

#include "gradcomp/core/types.hpp"

namespace gradcomp::data {

/// Labelled sequences of different lengths.
struct FrameSet {
  index_t features = 0, classes = 0;
  std::vector<float> values;  ///< all frames of all sequences, [frame][features]
  std::vector<index_t> first = {
      0};  ///< count() + 1 frame numbers: where each sequence begins, and where the last one ends
  std::vector<std::int32_t> labels;  ///< count() values below classes

  index_t count() const { return static_cast<index_t>(labels.size()); }
  index_t frames(index_t i) const {
    return first[static_cast<std::size_t>(i) + 1] - first[static_cast<std::size_t>(i)];
  }
  const float* sequence(index_t i) const { return values.data() + first[static_cast<std::size_t>(i)] * features; }
};

/// The training, validation and test set, and what a result record says about them.
struct FrameData {
  FrameSet train, validation, test;
  std::string name;  ///< "frames" or the canonical spec of the keywords; never a path
  std::string crc;   ///< cyclic redundancy check, CRC-32 (8 hex digits), of the training, validation and test set:
                     ///< labels, first and values of each
  std::vector<float> mean, std;  ///< mean and standard deviation per feature of all training frames; a feature whose
                                 ///< values are (almost) equal has std 1
};

/// Opens the data set of frames that `spec` names (data/datasets/), and fills in mean, std and crc. Throws Error (one
/// line: what, where, what is allowed).
FrameData open_frames(const std::string& spec);

/// Returns `data` with a validation set that is taken out of its training set (split.hpp). Throws Error if the training
/// set has fewer than 2 sequences.
FrameData with_validation(FrameData data);

/// Fills in mean, std and crc of `data`.
void describe(FrameData& data);

}  // namespace gradcomp::data
