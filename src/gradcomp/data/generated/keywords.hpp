#pragma once
// Keywords: a synthetic task of keyword spotting. A phoneme is a random vector of features, and a keyword is a sequence
// of phonemes. A recording begins with a random pause. Then each phoneme lasts a random number of frames. The volume is
// random, the speaker adds the same random vector to all frames, and noise is added. Every second keyword is the
// previous one backwards. So the mean over time, or a count of phonemes, does not tell these two apart, and a network
// must follow the order. This is our own design, not a published data set.
#include <map>
#include <string>
#include <vector>

#include "gradcomp/core/options.hpp"
#include "gradcomp/data/frames.hpp"
#include "gradcomp/data/split.hpp"

namespace gradcomp::data {

/// The dials. Most of them say which direction is harder.
struct KeywordOptions {
  index_t classes = 10;                                 ///< number of keywords; more is harder
  index_t train = 8'000, validation = 0, test = 1'000;  ///< numbers of recordings; fewer for training is harder;
                                                        ///< validation = 0: as many as test
  index_t features = 16;                                ///< floats per frame; fewer is harder
  index_t phonemes = 10;                                ///< phonemes of the language; fewer make keywords more alike
  index_t spoken = 5;                                   ///< phonemes per keyword
  index_t warp = 3;    ///< maximum difference of a phoneme's length from 4 frames; more is harder
  index_t pause = 6;   ///< maximum number of silent frames at the start; more is harder
  double speaker = 1;  ///< standard deviation of what a speaker adds to all frames; more is harder
  double noise = 2;    ///< standard deviation of the noise (that of phonemes is 1); more is harder
  index_t seed = 1;    ///< of language and recordings; independent of the training seed

  /// Names, defaults, ranges and meanings of the dials.
  static std::vector<Parameter> parameters();
  /// The defaults, replaced by what is `given`. Throws Error that lists what is allowed.
  static KeywordOptions from(const std::map<std::string, std::string>& given);
  /// "keywords:classes=10:..." with all dials, as results record them.
  std::string canonical() const;
};

/// The numbers of the phonemes of each keyword, [classes][spoken].
std::vector<std::vector<index_t>> keyword_phonemes(const KeywordOptions& options);

/// Generates all sets. Recording i has class i % classes. It is a pure function of the dials, the split and i, with the
/// same bits for every compiler and flag (detail/exact.hpp). describe() fills in mean, std and crc.
FrameData make_keywords(const KeywordOptions& options);

}  // namespace gradcomp::data
