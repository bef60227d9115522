#pragma once
// Sequences of feature frames with one label each, as keyword spotting has them, in host memory.
#include <cstdint>
#include <string>
#include <vector>

#include "gradcomp/core/types.hpp"

namespace gradcomp::data {

struct FrameSet {
  index_t features = 0, classes = 0;
  std::vector<float> values;  ///< all frames of all sequences, [frame][features]
  std::vector<index_t> first = {
      0};  ///< count() + 1 frame numbers: where each sequence begins, then where the last ends
  std::vector<std::int32_t> labels;  ///< count() values below classes

  index_t count() const { return static_cast<index_t>(labels.size()); }
  index_t frames(index_t i) const {
    return first[static_cast<std::size_t>(i) + 1] - first[static_cast<std::size_t>(i)];
  }
  const float* sequence(index_t i) const { return values.data() + first[static_cast<std::size_t>(i)] * features; }
};

/// A training set, the sets to validate and to test on, and what a result record says of them.
struct FrameData {
  FrameSet train, validation, test;
  std::string name;  ///< "frames" or the canonical spec of the keywords; never a path
  std::string crc;   ///< CRC-32 (8 hex digits) of labels, lengths and values of train, validation and test set
  std::vector<float> mean, std;  ///< per feature over all training frames; a feature without spread has std 1
};

/// Opens what `spec` names, one of the data sets of frames (data/datasets/). Mean, deviation and CRC are filled in.
/// Throws Error (one line: what, where, what is allowed).
FrameData open_frames(const std::string& spec);

/// With the sequences to validate on, taken out of those to train on (split.hpp). Throws Error for fewer than 2.
FrameData with_validation(FrameData data);

/// Fills mean, std and crc of `data`.
void describe(FrameData& data);

}  // namespace gradcomp::data
