#include "gradcomp/data/dataset.hpp"

#include <array>
#include <cmath>
#include <utility>

#include "gradcomp/core/error.hpp"
#include "gradcomp/data/files.hpp"
#include "gradcomp/data/registry.hpp"
#include "gradcomp/data/split.hpp"

namespace gradcomp::data {
namespace {

/// Mean and standard deviation per channel. Sums of integers are exact, so that the order of the pixels does not
/// matter.
void moments(const ImageSet& set, std::vector<float>& mean, std::vector<float>& deviation) {
  const auto channels = static_cast<std::size_t>(set.channels);
  std::vector<std::uint64_t> sum(channels), square(channels);
  for (std::size_t i = 0; i < set.pixels.size(); i += channels) {
    for (std::size_t c = 0; c < channels; ++c) {
      const std::uint64_t p = set.pixels[i + c];
      sum[c] += p;
      square[c] += p * p;
    }
  }
  const double n = static_cast<double>(set.count() * set.height * set.width);
  mean.assign(channels, 0.0F);
  deviation.assign(channels, 1.0F);
  for (std::size_t c = 0; c < channels && n > 0; ++c) {
    const double m = static_cast<double>(sum[c]) / n;
    const double variance = static_cast<double>(square[c]) / n - m * m;
    mean[c] = static_cast<float>(m / 255.0);
    if (variance > 1e-6) deviation[c] = static_cast<float>(std::sqrt(variance) / 255.0);
  }
}

}  // namespace

void describe(ImageData& data) {
  moments(data.train, data.mean, data.std);
  std::uint32_t crc = 0;
  for (const ImageSet* set : {&data.train, &data.validation, &data.test}) {
    crc = crc32(set->pixels.data(), set->pixels.size(), crc);
    for (const std::uint16_t label : set->labels) {
      const std::array<std::uint8_t, 2> bytes = {static_cast<std::uint8_t>(label & 0xFFU),
                                                 static_cast<std::uint8_t>(label >> 8U)};
      crc = crc32(bytes.data(), set->classes > 256 ? 2 : 1, crc);
    }
  }
  data.crc = fmt::format("{:08x}", crc);
}

ImageSet hold_out(ImageSet& train) {
  require(train.count() >= 2, "{} training images are too few to validate on some of them; at least 2", train.count());
  const index_t all = train.count(), size = train.image_size();
  ImageSet kept{train.height, train.width, train.channels, train.classes, {}, {}}, held = kept;
  for (index_t i = 0; i < all; ++i) {
    ImageSet& set = is_for_validation(i, all) ? held : kept;
    set.labels.push_back(train.labels[static_cast<std::size_t>(i)]);
    set.pixels.insert(set.pixels.end(), train.image(i), train.image(i) + size);
  }
  train = std::move(kept);
  return held;
}

void to_three_channels(ImageSet& set) {
  if (set.channels != 1) return;
  std::vector<std::uint8_t> pixels(set.pixels.size() * 3);
  for (std::size_t i = 0; i < set.pixels.size(); ++i) {
    for (std::size_t c = 0; c < 3; ++c) pixels[3 * i + c] = set.pixels[i];
  }
  set.pixels = std::move(pixels);
  set.channels = 3;
}

ImageData with_validation(ImageData data) {
  data.validation = hold_out(data.train);
  return data;
}

ImageData in_colour(ImageData data, const std::string& name, bool mirror) {
  to_three_channels(data.train);
  to_three_channels(data.test);
  data.name = name;
  data.mirror = mirror;
  return data;
}

ImageData open_dataset(const std::string& text) {
  ImageData data = check_dataset(text, "data", is_images).images(split_spec(text));
  describe(data);
  return data;
}

}  // namespace gradcomp::data
