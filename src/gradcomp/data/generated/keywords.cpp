#include "gradcomp/data/generated/keywords.hpp"

#include <algorithm>

#include "gradcomp/core/error.hpp"
#include "gradcomp/data/counter_rng.hpp"
#include "gradcomp/data/detail/exact.hpp"
#include "gradcomp/data/dials.hpp"

namespace gradcomp::data {
namespace {

using detail::mul;
using detail::rounded;

/// Streams (CounterRng's `a`).
constexpr std::uint64_t phonemes_stream = 0x4B01, keywords_stream = 0x4B02, train_clips = 0x4B03, test_clips = 0x4B04,
                        validation_clips = 0x4B05;
constexpr index_t duration = 4;  ///< mean length of a phoneme in frames

std::uint64_t clips(Split split) {
  return split == Split::train ? train_clips : split == Split::test ? test_clips : validation_clips;
}

/// Nearly normal with mean 0 and standard deviation 1: the sum of 12 uniform numbers, minus 6. All sums are exact,
/// because they are multiples of 2^-24 below 16.
double near_normal(CounterRng& rng) {
  double sum = -6;
  for (int k = 0; k < 12; ++k) sum += static_cast<double>(rng.unit());
  return sum;
}

/// Appends one recording of `keyword` to `set`.
void record(const KeywordOptions& o, const std::vector<float>& phonemes, const std::vector<index_t>& keyword,
            CounterRng rng, FrameSet& set) {
  const auto features = static_cast<std::size_t>(o.features);
  const float noise = static_cast<float>(o.noise), gain = rounded(0.75 + 0.5 * static_cast<double>(rng.unit()));
  std::vector<float> shift(features);
  for (float& s : shift) s = rounded(mul(static_cast<float>(o.speaker), rounded(near_normal(rng))));
  index_t frames = 0;
  const auto add = [&](const float* a, const float* b) {
    for (std::size_t f = 0; f < features; ++f) {
      const float clean = a == nullptr ? 0.0F : rounded(0.5 * (static_cast<double>(a[f]) + static_cast<double>(b[f])));
      set.values.push_back(
          rounded(mul(gain, clean) + static_cast<double>(shift[f]) + mul(noise, rounded(near_normal(rng)))));
    }
    ++frames;
  };
  for (auto left = static_cast<index_t>(rng.below(static_cast<std::uint64_t>(o.pause) + 1)); left > 0; --left)
    add(nullptr, nullptr);
  for (std::size_t k = 0; k < keyword.size(); ++k) {
    const float* const phoneme = phonemes.data() + static_cast<std::size_t>(keyword[k]) * features;
    const float* const next =
        k + 1 == keyword.size() ? phoneme : phonemes.data() + static_cast<std::size_t>(keyword[k + 1]) * features;
    const index_t length =
        duration - o.warp + static_cast<index_t>(rng.below(2 * static_cast<std::uint64_t>(o.warp) + 1));
    for (index_t t = 0; t < length; ++t) add(phoneme, t + 1 == length ? next : phoneme);  // the last frame is a mean
  }
  set.first.push_back(set.first.back() + frames);
}

FrameSet generate(const KeywordOptions& o, Split split, index_t count) {
  const auto seed = static_cast<std::uint64_t>(o.seed);
  std::vector<float> phonemes;
  for (index_t p = 0; p < o.phonemes; ++p) {
    CounterRng rng(seed, phonemes_stream, static_cast<std::uint64_t>(p));
    for (index_t f = 0; f < o.features; ++f) phonemes.push_back(rounded(near_normal(rng)));
  }
  const auto keywords = keyword_phonemes(o);
  FrameSet set;
  set.features = o.features;
  set.classes = o.classes;
  for (index_t i = 0; i < count; ++i) {
    const index_t label = i % o.classes;
    set.labels.push_back(static_cast<std::int32_t>(label));
    record(o, phonemes, keywords[static_cast<std::size_t>(label)],
           CounterRng(seed, clips(split), static_cast<std::uint64_t>(i)), set);
  }
  return set;
}

const Dials<KeywordOptions>& keyword_dials() {
  static const Dials<KeywordOptions> all(
      "keywords",
      {
          {"classes", &KeywordOptions::classes, 2, 1000, "keywords"},
          {"train", &KeywordOptions::train, 2, 1e7, "training recordings"},
          {"validation", &KeywordOptions::validation, 0, 1e7, "validation recordings; 0: as many as test"},
          {"test", &KeywordOptions::test, 2, 1e7, "test recordings"},
          {"features", &KeywordOptions::features, 1, 1024, "floats of a frame"},
          {"phonemes", &KeywordOptions::phonemes, 2, 1000, "phonemes of the language"},
          {"spoken", &KeywordOptions::spoken, 2, 32, "phonemes of a keyword"},
          {"warp", &KeywordOptions::warp, 0, 3, "largest deviation of a phoneme's length from 4, in frames"},
          {"pause", &KeywordOptions::pause, 0, 64, "largest number of silent frames before the word"},
          {"speaker", &KeywordOptions::speaker, 0, 8, "standard deviation of the offset that a speaker adds to frames"},
          {"noise", &KeywordOptions::noise, 0, 8, "standard deviation of the noise"},
          {"seed", &KeywordOptions::seed, 0, 1e15, "seed of language and recordings"},
      });
  return all;
}

}  // namespace

std::vector<std::vector<index_t>> keyword_phonemes(const KeywordOptions& o) {
  std::vector<std::vector<index_t>> keywords;
  for (index_t c = 0; c < o.classes; ++c) {
    if (c % 2 == 1) {
      keywords.emplace_back(keywords.back().rbegin(), keywords.back().rend());
      continue;
    }
    CounterRng rng(static_cast<std::uint64_t>(o.seed), keywords_stream, static_cast<std::uint64_t>(c));
    std::vector<index_t> keyword;
    while (std::ssize(keyword) < o.spoken) {  // no phoneme comes twice, so that a keyword is not its own reverse
      const auto p = static_cast<index_t>(rng.below(static_cast<std::uint64_t>(o.phonemes)));
      if (std::find(keyword.begin(), keyword.end(), p) == keyword.end()) keyword.push_back(p);
    }
    keywords.push_back(keyword);
  }
  return keywords;
}

std::vector<Parameter> KeywordOptions::parameters() { return keyword_dials().parameters(); }

KeywordOptions KeywordOptions::from(const std::map<std::string, std::string>& pairs) {
  const KeywordOptions o = keyword_dials().from(pairs);
  require(o.spoken <= o.phonemes, "keywords: spoken={} is above phonemes={}", o.spoken, o.phonemes);
  return o;
}

std::string KeywordOptions::canonical() const { return keyword_dials().canonical(*this); }

FrameData make_keywords(const KeywordOptions& options) {
  FrameData data;
  data.name = options.canonical();
  data.train = generate(options, Split::train, options.train);
  data.validation = generate(options, Split::validation, options.validation);
  data.test = generate(options, Split::test, options.test);
  return data;
}

}  // namespace gradcomp::data
