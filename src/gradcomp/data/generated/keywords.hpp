#pragma once
// Keywords: a synthetic keyword-spotting task. A phoneme is a random vector of features; a keyword is a sequence of
// phonemes with durations. A recording says its keyword a little faster or slower, phoneme by phoneme, after a random
// pause, louder or softer, by a speaker who shifts all frames alike, in noise. Every second keyword is the one before
// it spoken backwards, so that the mean over time, or a count of phonemes, tells pairs but not their members: a net
// must follow the order. Source: our own; no published data set.
#include <map>
#include <string>
#include <vector>

#include "gradcomp/core/options.hpp"
#include "gradcomp/data/frames.hpp"
#include "gradcomp/data/split.hpp"

namespace gradcomp::data {

/// The dials. Each one says which way is harder.
struct KeywordOptions {
  index_t classes = 10;                                 ///< keywords; more is harder
  index_t train = 8'000, validation = 0, test = 1'000;  ///< recordings; fewer training ones generalise less
                                                        ///< (validation: 0 stands for as many as test)
  index_t features = 16;                                ///< floats of a frame; fewer is harder
  index_t phonemes = 10;                                ///< in the language; fewer make keywords more alike
  index_t spoken = 5;                                   ///< phonemes of a keyword
  index_t warp = 3;    ///< most frames by which a phoneme is longer or shorter than 4; more is harder
  index_t pause = 6;   ///< most frames of silence in front; more is harder
  double speaker = 1;  ///< deviation of what a speaker adds to all frames; more is harder
  double noise = 2;    ///< deviation of the noise (phonemes: 1); more is harder
  index_t seed = 1;    ///< of language and recordings; independent of the training seed

  /// Names, defaults, ranges and meaning of the dials.
  static std::vector<Parameter> parameters();
  /// Throws Error listing what is allowed.
  static KeywordOptions from(const std::map<std::string, std::string>& given);
  /// "keywords:classes=10:...": all dials, as results record them.
  std::string canonical() const;
};

/// Phonemes of each keyword, [classes][spoken].
std::vector<std::vector<index_t>> keyword_phonemes(const KeywordOptions& options);

/// All sets. Recording i (class i % classes) is a pure function of the dials, the split and i, with the same bits for
/// every compiler and flag (detail/exact.hpp). Mean, std and crc are left to describe().
FrameData make_keywords(const KeywordOptions& options);

}  // namespace gradcomp::data
