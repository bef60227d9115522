#include "gradcomp/data/frames.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "gradcomp/core/error.hpp"
#include "gradcomp/data/files.hpp"
#include "gradcomp/data/registry.hpp"
#include "gradcomp/data/split.hpp"

namespace gradcomp::data {
namespace {

template <class T>
std::uint32_t crc_of(const std::vector<T>& values, std::uint32_t crc) {
  return crc32(reinterpret_cast<const std::uint8_t*>(values.data()), values.size() * sizeof(T), crc);
}

/// Takes the sequences for validation out of `train`.
FrameSet hold_out(FrameSet& train) {
  require(train.count() >= 2, "{} training sequences are too few to validate on some of them; at least 2",
          train.count());
  FrameSet kept, held;
  kept.features = held.features = train.features;
  kept.classes = held.classes = train.classes;
  for (index_t i = 0; i < train.count(); ++i) {
    FrameSet& set = is_for_validation(i, train.count()) ? held : kept;
    set.labels.push_back(train.labels[static_cast<std::size_t>(i)]);
    set.values.insert(set.values.end(), train.sequence(i), train.sequence(i) + train.frames(i) * train.features);
    set.first.push_back(set.first.back() + train.frames(i));
  }
  train = std::move(kept);
  return held;
}

}  // namespace

FrameData with_validation(FrameData data) {
  data.validation = hold_out(data.train);
  return data;
}

void describe(FrameData& data) {
  const auto features = static_cast<std::size_t>(data.train.features);
  std::vector<double> sum(features), square(features);
  for (std::size_t i = 0; i < data.train.values.size(); ++i)
    sum[i % features] += static_cast<double>(data.train.values[i]);
  const double frames = std::max(1.0, static_cast<double>(data.train.first.back()));
  for (double& s : sum) s /= frames;
  for (std::size_t i = 0; i < data.train.values.size(); ++i) {
    const double centred = static_cast<double>(data.train.values[i]) - sum[i % features];
    square[i % features] += centred * centred;
  }
  data.mean.assign(sum.begin(), sum.end());
  data.std.assign(features, 1.0F);
  for (std::size_t f = 0; f < features; ++f) {
    const double deviation = std::sqrt(square[f] / frames);
    if (deviation > 1e-6 * std::fabs(sum[f]) && deviation > 1e-30) data.std[f] = static_cast<float>(deviation);
  }
  std::uint32_t crc = 0;
  for (const FrameSet* set : {&data.train, &data.validation, &data.test}) {
    crc = crc_of(set->values, crc_of(set->first, crc_of(set->labels, crc)));
  }
  data.crc = fmt::format("{:08x}", crc);
}

FrameData open_frames(const std::string& text) {
  FrameData data = check_dataset(text, "frames", is_frames).frames(split_spec(text));
  describe(data);
  return data;
}

}  // namespace gradcomp::data
