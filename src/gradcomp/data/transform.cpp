#include "gradcomp/data/transform.hpp"

#include <algorithm>

#include "gradcomp/core/error.hpp"
#include "gradcomp/data/counter_rng.hpp"

namespace gradcomp::data {
namespace {

constexpr std::uint64_t augment_stream = 0x4155;

/// Where the crop begins, relative to the unpadded image, and whether it is mirrored.
struct Crop {
  index_t x = 0, y = 0;
  bool mirror = false;
};

Crop draw_crop(const TransformOptions& options, index_t epoch, index_t sample) {
  CounterRng rng(options.seed ^ (augment_stream << 48), static_cast<std::uint64_t>(epoch),
                 static_cast<std::uint64_t>(sample));
  const auto range = static_cast<std::uint64_t>(2 * options.padding + 1);
  Crop crop;
  crop.x = static_cast<index_t>(rng.below(range)) - options.padding;
  crop.y = static_cast<index_t>(rng.below(range)) - options.padding;
  crop.mirror = (rng.next() >> 63) != 0;
  return crop;
}

/// Row `y` of the cropped image as bytes; black outside the original.
void crop_row(const ImageSet& set, const std::uint8_t* image, const Crop& crop, index_t y, std::uint8_t* row) {
  const index_t channels = set.channels, stride = set.width * channels;
  std::fill_n(row, stride, std::uint8_t{0});
  const index_t source_y = y + crop.y;
  if (source_y < 0 || source_y >= set.height) return;
  const index_t first = std::max<index_t>(0, -crop.x), last = std::min(set.width, set.width - crop.x);
  for (index_t x = first; x < last; ++x) {
    const index_t target = crop.mirror ? set.width - 1 - x : x;
    std::copy_n(image + source_y * stride + (x + crop.x) * channels, channels, row + target * channels);
  }
}

}  // namespace

Transform::Transform(const ImageData& data, const TransformOptions& options) : m_options(options) {
  const ImageSet& set = data.train;
  require(static_cast<index_t>(data.mean.size()) == set.channels && data.std.size() == data.mean.size(),
          "data '{}' has {} channels but {} means", data.name, set.channels, data.mean.size());
  require(options.padding >= 0, "padding {} is not allowed; 0 or more pixels", options.padding);
  for (index_t x = 0; x < set.width; ++x) {
    for (std::size_t c = 0; c < data.mean.size(); ++c) {
      m_scale.push_back(1.0F / (255.0F * data.std[c]));
      m_offset.push_back(-data.mean[c] / data.std[c]);
    }
  }
}

void Transform::fill_one(const ImageSet& set, index_t sample, index_t epoch, float* out,
                         std::vector<std::uint8_t>& row) const {
  const auto stride = static_cast<std::size_t>(set.width * set.channels);
  const Crop crop = m_options.augment ? draw_crop(m_options, epoch, sample) : Crop{};
  const std::uint8_t* image = set.image(sample);
  for (index_t y = 0; y < set.height; ++y, out += stride) {
    const std::uint8_t* bytes = image + static_cast<std::size_t>(y) * stride;
    if (m_options.augment) {
      crop_row(set, image, crop, y, row.data());
      bytes = row.data();
    }
    for (std::size_t i = 0; i < stride; ++i) out[i] = static_cast<float>(bytes[i]) * m_scale[i] + m_offset[i];
  }
}

void Transform::fill(const ImageSet& set, std::span<const index_t> indices, index_t epoch, std::span<float> images,
                     std::span<std::int32_t> labels) const {
  const auto size = static_cast<std::size_t>(set.image_size());
  require(m_scale.size() == static_cast<std::size_t>(set.width * set.channels),
          "images with {} values per row do not fit the data set, which has {}", set.width * set.channels,
          m_scale.size());
  require(images.size() == indices.size() * size && labels.size() == indices.size(),
          "a batch of {} needs {} floats and {} labels, not {} and {}", indices.size(), indices.size() * size,
          indices.size(), images.size(), labels.size());
  std::vector<std::uint8_t> row(m_scale.size());
  for (std::size_t i = 0; i < indices.size(); ++i) {
    require(indices[i] >= 0 && indices[i] < set.count(), "sample {} is not in 0 to {}", indices[i], set.count() - 1);
    labels[i] = set.labels[static_cast<std::size_t>(indices[i])];
    fill_one(set, indices[i], epoch, images.data() + i * size, row);
  }
}

}  // namespace gradcomp::data
